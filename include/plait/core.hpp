// SPDX-License-Identifier: BSL-1.0
#pragma once

// Tasks on one machine. Needs neither MPI nor cereal.
#include <plait/sched/pool.hpp>
#include <plait/task/allocated_frame.hpp>
#include <plait/task/as_completed.hpp>
#include <plait/task/blocking.hpp>
#include <plait/task/fail_fast.hpp>
#include <plait/task/fork.hpp>
#include <plait/task/future.hpp>
#include <plait/task/named.hpp>
#include <plait/task/parallel_for.hpp>
#include <plait/task/parallel_invoke.hpp>
#include <plait/task/parallel_reduce.hpp>
#include <plait/task/parallel_sort.hpp>
#include <plait/task/promise.hpp>
#include <plait/task/resume_on.hpp>
#include <plait/task/run.hpp>
#include <plait/task/shared_future.hpp>
#include <plait/task/sleep.hpp>
#include <plait/task/spawn.hpp>
#include <plait/task/stop.hpp>
#include <plait/task/sync/async_barrier.hpp>
#include <plait/task/sync/async_latch.hpp>
#include <plait/task/sync/async_mutex.hpp>
#include <plait/task/sync/async_semaphore.hpp>
#include <plait/task/sync/channel.hpp>
#include <plait/task/task.hpp>
#include <plait/task/task_group.hpp>
#include <plait/task/this_worker.hpp>
#include <plait/task/unobserved.hpp>
#include <plait/task/wait_children.hpp>
#include <plait/task/when_all.hpp>
#include <plait/task/when_all_settled.hpp>
#include <plait/task/when_any.hpp>
#include <plait/task/yield.hpp>
#include <plait/version.hpp>
