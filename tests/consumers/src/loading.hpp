// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/core.hpp>

/// What loaded.cpp offers.
struct loaded_functions {
  long (*run_alone)(int n);
  plait::future<long> (*spawn_in)(plait::pool& where, int n);
  const plait::pool* (*default_pool)();
};
