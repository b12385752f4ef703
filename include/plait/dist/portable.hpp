// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/clock.hpp>
#include <plait/base/frame_pool.hpp>
#include <plait/base/text.hpp>
#include <plait/dist/messages.hpp>
#include <plait/sched/pool.hpp>
#include <plait/wire/reader.hpp>
#include <plait/wire/registry.hpp>
#include <plait/wire/writer.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string_view>
#include <utility>

// Submitted tasks as the node sees them, whatever they call.

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

class node;
class visitor;

/// What a unit's context points to: the run that the task belongs to.
struct run_context {
  node* home;
  const sched::unit* root;  ///< the root task of this rank, or null
  bool in_spmd;             ///< the task is an spmd body or descends from one
};

/// A submitted task in a queue. Until it is executed it can move to another rank.
struct portable : sched::job {
  portable(void (*run)(sched::job*, sched::worker&) noexcept, const wire::registry_entry& entry) noexcept
      : job{run, nullptr, nullptr}, callable(&entry) {}
  virtual ~portable() = default;

  const wire::registry_entry* callable;
  sched::unit self{nullptr, nullptr, nullptr, 0};
  std::uint32_t moves = 0;        ///< how often it has gone from rank to rank
  std::int32_t only_worker = -1;  ///< of this rank, where no other may run it
  std::int64_t began = 0;         ///< when it did, where somebody watches the worker

  /// Tells who watches the worker that it begins, or has ended.
  void tell_start(obs::watcher& who, std::uint64_t flow) noexcept {
    began = base::now().time_since_epoch().count();
    who.task_began(&self, known_as(), flow);
  }
  void tell_end(sched::worker* w) const noexcept {
    if (began == 0 || w == nullptr || w->watched() == nullptr) return;
    const auto time = base::now().time_since_epoch().count() - began;
    w->watched()->task_ended(&self, known_as(), static_cast<std::uint64_t>(time));
  }
  obs::task_name known_as() const noexcept {
    return {callable,
            [](const void* entry) {
              return base::text(std::string_view(static_cast<const wire::registry_entry*>(entry)->name()));
            },
            {}};
  }

  /// Before it leaves: takes it from whoever else might run it. False if somebody has; the caller's hold is gone then.
  virtual bool claim_to_leave() noexcept = 0;
  /// Where its result goes; a task of this rank gets a slot.
  virtual return_address address(node& home) = 0;
  /// Appends its arguments.
  virtual void pack(wire::writer& out) = 0;
  /// Whether packing calls functions of the program's, which may do anything but wait: not under a lock.
  virtual bool packs_by_user_code() const noexcept { return false; }
  /// What it is called where it came from another rank, or 0.
  virtual std::uint64_t flow() const noexcept { return 0; }
  /// It has left for a rank.
  virtual void left(int rank) noexcept = 0;
  /// It could not be packed and runs here: undoes claim_to_leave and address.
  virtual void stays(node& home) noexcept = 0;
};

/// What waits in a slot for results from other ranks. As a job it finishes, on a worker, what accept has completed.
struct awaiting_reply {
  virtual ~awaiting_reply() = default;
  /// Takes a result. After the last one, finish follows.
  virtual void accept(wire::reader& in, const result_head& head) noexcept = 0;
  /// Tells the waiting tasks.
  virtual void finish(sched::worker& w) noexcept = 0;
  /// What it calls on the other ranks.
  virtual const wire::registry_entry& called() const noexcept = 0;
  /// Before the result: the task has come to a rank, by that many moves. True: that rank has to be told to stop it.
  virtual bool moved([[maybe_unused]] int rank, [[maybe_unused]] std::uint32_t times) noexcept { return false; }

  int expected = 1;  ///< how many results are still to come

  struct delivery : sched::job {
    awaiting_reply* who;
  };
  delivery deliver{
      {[](sched::job* j, sched::worker& w) noexcept { static_cast<delivery*>(j)->who->finish(w); }, nullptr, nullptr},
      this};
};

/// What a registry entry knows of its callable.
struct operations {
  /// Makes a task of the bytes of its arguments; throws only std::bad_alloc.
  visitor* (*import)(const wire::registry_entry& entry, node& home, const return_address& to,
                     std::span<const std::byte> arguments);
};

/// A coroutine that runs a coroutine function on behalf of a job, which is told at its end.
template <class Job>
struct driver {
  struct promise_type : base::in_frame_memory {
    explicit promise_type(Job& j) noexcept : job(j) {}
    driver get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    auto final_suspend() const noexcept {
      struct awaiter {
        bool await_ready() const noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) const noexcept {
          auto& j = self.promise().job;
          self.destroy();
          return j.conclude(sched::worker::of_this_thread());
        }
        void await_resume() const noexcept {}
      };
      return awaiter{};
    }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }  // the body catches everything

    Job& job;
  };
  std::coroutine_handle<promise_type> frame;
};

/// The body of a driver: calls, waits, and hands over what came of it.
template <class Job>
driver<Job> drive(Job& job) {
  try {
    if constexpr (Job::gives_nothing) {
      co_await job.call();
      job.succeed();
    } else {
      job.succeed(co_await job.call());
    }
  } catch (...) {
    job.fail(std::current_exception());
  }
}

/// Executes a job's callable, a function or a coroutine function, on a worker; its unit has begun.
template <class Job>
void run_begun(Job& job, sched::worker& w) noexcept {
  if constexpr (Job::is_coroutine) {
    std::coroutine_handle<> frame;
    try {
      frame = drive(job).frame;
    } catch (...) {  // no memory for the driver
      job.fail(std::current_exception());
      frame = job.conclude(&w);
    }
    w.resume(frame);
  } else {
    try {
      if constexpr (Job::gives_nothing) {
        job.call();
        job.succeed();
      } else {
        job.succeed(job.call());
      }
    } catch (...) {
      job.fail(std::current_exception());
    }
    w.resume(job.conclude(&w));
  }
}

/// The same from the beginning.
template <class Job>
void run_here(Job& job, sched::worker& w) noexcept {
  w.counters.executed.add();
  auto* const by = w.watched();
  if (by != nullptr) [[unlikely]]
    job.tell_start(*by, job.flow());
  w.begin(job.self);
  run_begun(job, w);
  if (by != nullptr) [[unlikely]]
    by->returned();
}

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
