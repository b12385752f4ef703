// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/errors.hpp>
#include <plait/base/pause.hpp>
#include <plait/sched/outside.hpp>
#include <plait/sched/worker.hpp>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace plait {

struct pool_options {
  unsigned workers = 0;  ///< 0: as many as the process may use processors (affinity and CPU quota)
};

/// A set of workers that execute tasks. Any thread may give it work. Its end runs all that is queued or running.
class pool {
 public:
  explicit pool(pool_options options = {}) : pool(options, 0) {}

  /// A pool whose worker 0 is the thread that calls work_here; it starts one thread less.
  struct caller_works_t {};
  static constexpr caller_works_t caller_works{};
  pool(caller_works_t, pool_options options) : pool(options, 1) {}

  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// Refuses work from outside, waits for all tasks that were started in it, and joins its threads.
  ~pool() {
    closing_.store(true, std::memory_order_seq_cst);
    ground_.subtree_ended();
    if (first_thread_ == 1) work_here([this] { return ground_.signal.is_set(); });
    ground_.signal.wait();
    stopping_.store(true, std::memory_order_seq_cst);
    parking_.wake_all();
    for (auto& t : threads_) t.join();
  }

  /// The pool that sync_wait uses, made on first use with one worker a usable processor.
  static PLAIT_EXPORT pool& default_pool() {
    static default_holder holder;
    return *holder.instance;
  }

  /// Number of workers.
  unsigned size() const noexcept { return static_cast<unsigned>(workers_.size()); }

  /// Runs a task and waits for it, and for all that was started in it. Returns its result or throws its exception.
  /// Any thread; a worker executes other jobs meanwhile.
  template <class Task>
  auto run(Task task) {
    return run_on(*this, std::move(task));
  }

  /// Starts a task, or a callable with arguments that it keeps copies of, and gives its future. Any thread.
  template <class... A>
  auto spawn(A&&... a) {
    return spawn_on(*this, std::forward<A>(a)...);
  }

  // ---- for the layers above ----

  sched::worker& at(unsigned index) noexcept { return *workers_[index]; }
  sched::parking_lot& parking() noexcept { return parking_; }
  /// Counts the tasks that no running task has started.
  sched::family& ground() noexcept { return ground_; }
  sched::outside* outside() const noexcept { return outside_; }
  /// Before the first work_here.
  void set_outside(sched::outside* o) noexcept { outside_ = o; }
  /// Whether more threads than processors compete, here or with other ranks: then searching gives way at once.
  void set_crowded(bool crowded) noexcept { crowded_.store(crowded, std::memory_order_relaxed); }  // a hint
  bool closing() const noexcept { return closing_.load(std::memory_order_seq_cst); }

  /// Queues a job from any thread: on a worker of this pool in its own deque, else for any worker.
  void post(sched::job* j) {
    auto* w = sched::worker::of_this_thread();
    if (w != nullptr && &w->home() == this) {
      w->own.push(j);
      parking_.notify();
      return;
    }
    // The job may run, and all others end, before this thread is through: until then the pool must not end.
    ground_.add_subtree();
    injected_.push(j);
    parking_.notify();
    ground_.subtree_ended();
  }

  /// Queues a job that only this worker may execute. Any thread.
  void post_to(unsigned index, sched::job* j) {
    workers_[index]->inbox.push(j);
    parking_.wake(workers_[index]->bed);
  }

  /// The calling thread, a worker of this pool or about to be one, executes jobs until stop() is true. Who makes it true
  /// must wake the worker.
  template <class Stop>
  void drive(sched::worker& w, Stop stop) noexcept {
    drive_until(w, std::move(stop), clock::time_point::max());
  }

  /// The same, but it also ends when the time has come, looked at between two jobs.
  template <class Stop>
  void drive_until(sched::worker& w, Stop stop, std::chrono::steady_clock::time_point deadline) noexcept {
    const sched::worker::stack_scope scope(w);
    const auto ended = [&] {
      return stop() || (deadline != clock::time_point::max() && clock::now() >= deadline);
    };
    while (!ended()) {
      if (step(w)) continue;
      search(w, ended, deadline);
    }
  }

  /// Sets the signal that one of this pool's workers waits for. Any thread; the waiting may end at once, the pool does not.
  void signal_worker(sched::worker& w, base::thread_signal& signal) noexcept {
    ground_.add_subtree();
    signal.set();
    parking_.wake(w.bed);
    ground_.subtree_ended();
  }

  /// The calling thread is worker 0 until stop() is true.
  template <class Stop>
  void work_here(Stop stop) noexcept {
    const sched::worker::thread_scope scope(at(0));
    drive(at(0), std::move(stop));
  }

 private:
  using clock = std::chrono::steady_clock;
  using nanoseconds = std::chrono::nanoseconds;

  pool(pool_options options, unsigned first_thread) : first_thread_(first_thread) {
    const unsigned count = options.workers != 0 ? options.workers : base::usable_processors();
    if (count > max_workers) {
      throw error("plait: a pool of " + std::to_string(count) + " workers was asked for; at most " +
                  std::to_string(max_workers) + " are possible");
    }
    crowded_ = count > base::usable_processors();
    for (unsigned i = 0; i < count; ++i) workers_.push_back(std::make_unique<sched::worker>(*this, i));
    try {
      for (unsigned i = first_thread; i < count; ++i) {
        threads_.emplace_back([this, i] {
          auto& w = at(i);
          const sched::worker::thread_scope scope(w);
          drive(w, [this] { return stopping_.load(std::memory_order_acquire); });  // partner: ~pool
        });
      }
    } catch (...) {
      stopping_.store(true, std::memory_order_seq_cst);
      parking_.wake_all();
      for (auto& t : threads_) t.join();
      throw;
    }
  }

  /// One step of a worker's loop: executes one of its own jobs. False if there was none.
  bool step(sched::worker& w) noexcept {
    if ((++w.steps & 63) == 0) [[unlikely]]
      serve(w);
    auto* j = w.next_own();
    if (j == nullptr) return false;
    w.execute(j);
    return true;
  }

  /// What must get its turn also while a worker has work of its own.
  void serve(sched::worker& w) noexcept {
    if (outside_ != nullptr) outside_->poll(w);
    if (auto* j = w.take_first(injected_, w.own)) w.execute(j);
    if (auto* j = w.next_bound()) w.execute(j);
    if (auto* j = w.take_first(w.fifo, w.own)) w.execute(j);
  }

  /// Looks for a job in the whole process and beyond until it has executed one or stop() is true: first in turns, then
  /// asleep.
  template <class Stop>
  void search(sched::worker& w, Stop& stop, clock::time_point deadline) noexcept {
    parking_.begin_search();
    while (!look_around(w, stop)) rest(w, stop, deadline);
  }

  /// The turns of a search. True if it has ended: the worker is not counted as searching any more.
  template <class Stop>
  bool look_around(sched::worker& w, Stop& stop) noexcept {
    const auto until = clock::now() + (crowded_.load(std::memory_order_relaxed) ? nanoseconds(0) : spin_time);  // a hint
    for (unsigned turn = 1;; ++turn) {
      if (stop()) {
        parking_.end_search();
        return true;
      }
      auto* j = find(w);
      if (j != nullptr || reach_out(w)) {
        if (parking_.end_search()) parking_.notify();
        if (j != nullptr) w.execute(j);
        return true;
      }
      if (turn % 8 == 0 && clock::now() >= until) return false;
      if (turn % 4 == 0) {
        std::this_thread::yield();
      } else {
        base::pause();
      }
    }
  }

  /// Sleeps until there may be something to do; one worker at a time does so where it hears what comes from outside.
  template <class Stop>
  void rest(sched::worker& w, Stop& stop, clock::time_point deadline) noexcept {
    const bool listens =
        outside_ != nullptr && outside_->may_listen(w) && !listening_.exchange(true, std::memory_order_seq_cst);
    std::uint64_t ticket = 0;
    if (listens) {
      w.bed.rouse_argument = outside_;
      w.bed.rouse = [](void* o) { static_cast<sched::outside*>(o)->wake(); };
      ticket = outside_->prepare_listen();
    }
    parking_.lie_down(w.bed, !listens);
    if (!stop() && !anything_for(w) && !(listens && outside_->poll(w))) {
      w.counters.parked.add();
      if (listens) {
        outside_->listen(ticket, deadline);
      } else {
        parking_.sleep(w.bed, deadline);
      }
    }
    parking_.rise(w.bed);
    if (listens) {
      w.bed.rouse = nullptr;
      listening_.store(false, std::memory_order_seq_cst);
    }
  }

  /// A job from its own queues, from outside of the pool's workers, or from another worker.
  sched::job* find(sched::worker& w) noexcept {
    if (auto* j = w.next_own()) return j;
    if (auto* j = w.take_first(injected_, w.own)) return j;
    const unsigned count = size();
    if (count == 1) return nullptr;
    const auto first = static_cast<unsigned>(w.random() % count);
    for (unsigned i = 0; i < count; ++i) {
      auto& victim = at((first + i) % count);
      if (&victim == &w) continue;
      auto* j = victim.own.steal();
      if (j == nullptr) j = victim.submitted.steal();
      if (j == nullptr) j = w.take_first(victim.placed, w.submitted);
      if (j == nullptr) j = w.take_first(victim.fifo, w.own);
      if (j == nullptr) continue;
      w.counters.stolen.add();
      return j;
    }
    return nullptr;
  }

  bool reach_out(sched::worker& w) noexcept {
    return outside_ != nullptr && (outside_->poll(w) || outside_->seek(w));
  }

  bool anything_for(sched::worker& w) noexcept {
    if (w.has_bound() || !injected_.empty()) return true;
    for (auto& other : workers_) {
      if (!other->own.looks_empty() || !other->submitted.looks_empty() || !other->placed.empty() || !other->fifo.empty()) {
        return true;
      }
    }
    return false;
  }

  static void drained(sched::family* ground) noexcept { static_cast<ground_family*>(ground)->signal.set(); }

  struct ground_family : sched::family {
    ground_family() noexcept : family(&drained) {}
    base::thread_signal signal;
  };

  /// The default pool ends with the process; where that happens inside one of its tasks, it can't wait for that task.
  struct default_holder {
    pool* instance = new pool;
    ~default_holder() {
      const auto* w = sched::worker::of_this_thread();
      if (w == nullptr || &w->home() != instance) delete instance;
    }
  };

  static constexpr unsigned max_workers = 1024;
  static constexpr nanoseconds spin_time{20000};

  const unsigned first_thread_;
  std::atomic<bool> crowded_{false};
  std::atomic<bool> closing_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> listening_{false};
  sched::outside* outside_ = nullptr;
  sched::parking_lot parking_;
  sched::job_queue injected_;
  ground_family ground_;
  std::vector<std::unique_ptr<sched::worker>> workers_;
  std::vector<std::thread> threads_;
};

}  // namespace plait
