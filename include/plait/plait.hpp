// SPDX-License-Identifier: BSL-1.0
#pragma once

// Tasks on all ranks of a job.
#include <plait/core.hpp>
#include <plait/dist/by_value.hpp>
#include <plait/dist/collectives.hpp>
#include <plait/dist/launch.hpp>
#include <plait/dist/map.hpp>
#include <plait/dist/map_reduce.hpp>
#include <plait/dist/native.hpp>
#include <plait/dist/options.hpp>
#include <plait/dist/placement.hpp>
#include <plait/dist/queries.hpp>
#include <plait/dist/rank_local.hpp>
#include <plait/dist/replicate.hpp>
#include <plait/dist/runtime.hpp>
#include <plait/dist/spmd.hpp>
#include <plait/dist/stealing.hpp>
#include <plait/dist/submit.hpp>
