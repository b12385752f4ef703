// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/exchange.hpp>
#include <plait/base/fixed_array.hpp>
#include <plait/base/module.hpp>
#include <plait/base/thread.hpp>
#include <plait/sched/pool_options.hpp>
#include <plait/sched/pool_part.hpp>
#include <plait/sched/work_loops.hpp>
#include <plait/sched/worker.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

PLAIT_INTERFACE

namespace plait {

/// A set of workers that execute tasks. Any thread may give it work. Its end runs all that is queued or running.
class pool : public sched::work_loops {
 public:
  /// Throws plait::error if the number of workers is negative or above 1,024, that of threads for blocking calls is
  /// not from 1 to 32,768, or the system does not start a thread.
  explicit pool(pool_options options = {}) : pool(options, 0, 0) {}

  /// A pool whose worker 0 is the thread that calls work_here; it starts one thread less. seed: its workers' random
  /// numbers differ from those of pools with another one.
  struct caller_works_t {};
  static constexpr caller_works_t caller_works{};
  pool(caller_works_t, pool_options options, std::uint64_t seed = 0) : pool(options, 1, seed) {}

  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// Refuses work from outside, waits for all tasks that were started in it, and joins its threads. When nothing else
  /// is left to run, tasks that are suspended at timers, promises and sync objects go on with cancelled_error.
  /// Ends the program, with a message, in one of its own tasks.
  ~pool() {
    refuse_in_own_task();
    closing_.store(true, std::memory_order_seq_cst);
    ground_.subtree_ended();
    parking().wake_all();  // the last that finds nothing looks for suspended tasks
    if (first_thread_ == 1) work_here([this] { return ground_.signal.is_set(); });
    ground_.signal.wait();
    parking().settle();
    delete part_.load(std::memory_order_acquire);  // partner: part
    end_threads();
  }

  /// The pool that sync_wait uses, made on first use with one worker a usable processor.
  /// Throws plait::error in static destructors that run after its end.
  static PLAIT_EXPORT pool& default_pool() {
    static default_holder holder((base::keep_this_module(), new pool));
    if (holder.ended().load(std::memory_order_relaxed)) {  // the thread that runs static destructors
      throw error("plait: the default pool has ended with the program: a static destructor needs a pool of its own");
    }
    return *holder.instance;
  }

  /// Runs a task and waits for it, and for all that was started in it. Returns its result or throws its exception.
  /// Any thread; a worker executes other jobs meanwhile.
  template <class Task>
  decltype(auto) run(Task task) {
    return run_on(*this, std::move(task));
  }

  /// Starts a task, or a callable with arguments that it keeps copies of, and gives its future. Any thread.
  template <class... A>
  auto spawn(A&&... a) {
    return spawn_on(*this, std::forward<A>(a)...);
  }

  // ---- for the layers above ----

  /// What the layer above keeps beside the workers, made by make() when it is first asked for, with the limit of the
  /// options.
  sched::pool_part& part(sched::pool_part* (*make)(unsigned blocking_threads)) {
    auto* there = part_.load(std::memory_order_acquire);  // partner: the exchange below
    if (there != nullptr) return *there;
    auto* made = make(blocking_threads_);
    // release: what was made; acquire on failure: what another has made
    if (part_.compare_exchange_strong(there, made, std::memory_order_acq_rel, std::memory_order_acquire)) return *made;
    delete made;
    return *there;
  }

  /// Whether the calling thread is one that the pool joins at its end.
  bool owns_this_thread() const noexcept {
    const auto* w = sched::worker::of_this_thread();
    if (w != nullptr) return &w->home() == this;
    const auto* there = part_.load(std::memory_order_acquire);  // partner: part
    return there != nullptr && there->owns_this_thread();
  }

  /// Counts something that comes from outside: the pool does not end before ground().subtree_ended(). Throws
  /// plait::error if it is ending.
  void admit() {
    ground_.add_subtree();  // before the look: ~pool waits for it, or has said that it ends
    if (!closing_.load(std::memory_order_seq_cst)) return;
    ground_.subtree_ended();
    throw error("plait: the pool is ending and takes no more tasks from outside");
  }

  /// Work that comes from outside: the pool does not end while this lives.
  class visit {
   public:
    /// Throws plait::error if the pool is ending.
    explicit visit(pool& p) : visit(&p) {}
    /// Null: no pool.
    explicit visit(pool* p) : pool_(p) {
      if (p != nullptr) p->admit();
    }
    ~visit() {
      if (pool_ != nullptr) pool_->ground_.subtree_ended();
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

   private:
    pool* const pool_;
  };

  /// The calling thread is worker 0 until stop() is true.
  void work_here(function_ref<bool()> stop) noexcept {
    const sched::worker::thread_scope scope(at(0));
    drive(at(0), stop);
  }

 private:
  pool(pool_options options, unsigned first_thread, std::uint64_t seed)
      : work_loops(*this, options.worker_count(), seed),
        first_thread_(first_thread),
        blocking_threads_(options.blocking_limit()),
        threads_(size(), [](void* place, std::size_t) { ::new (place) base::thread; }) {
    try {
      for (unsigned i = first_thread; i < size(); ++i) {
        threads_[i] = base::thread([this, i] {
          if (first_thread_ == 0) base::start_apart(i, size());
          auto& w = at(i);
          const sched::worker::thread_scope scope(w);
          drive(w, [this] { return stopping_.load(std::memory_order_acquire); });  // partner: end_threads
        });
      }
    } catch (...) {
      end_threads();
      throw;
    }
  }

  void refuse_in_own_task() const {
    const auto* w = sched::worker::of_this_thread();
    if (w == nullptr || &w->home() != this) return;
    throw error(
        "plait: a pool was destroyed in one of its own tasks, for whose end it would wait: destroy it in another "
        "thread, or in a task of another pool");
  }

  void end_threads() noexcept {
    stopping_.store(true, std::memory_order_seq_cst);
    parking().wake_all();
    for (auto& t : threads_) t.join();
    clear();
  }

  /// The default pool ends with the process; where that happens inside one of its tasks, it can't wait for that task.
  /// Whose code has made it must not go before.
  struct default_holder {
    pool* instance;
    explicit default_holder(pool* made) noexcept : instance(made) {}
    static base::atomic_word<bool>& ended() noexcept {
      static constinit base::atomic_word<bool> flag{false};
      return flag;
    }
    ~default_holder() {
      ended().store(true, std::memory_order_relaxed);  // see default_pool
      if (!instance->owns_this_thread()) delete instance;
    }
  };

  const unsigned first_thread_;
  const unsigned blocking_threads_;
  base::atomic<bool> stopping_{false};
  base::atomic<sched::pool_part*> part_{nullptr};
  base::fixed_array<base::thread> threads_;  ///< worker i's thread; none where the caller works
};

}  // namespace plait
