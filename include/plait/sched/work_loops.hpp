// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/exchange.hpp>
#include <plait/base/fixed_array.hpp>
#include <plait/base/function_ref.hpp>
#include <plait/base/pause.hpp>
#include <plait/base/thread.hpp>
#include <plait/sched/left_loops.hpp>
#include <plait/sched/outside.hpp>
#include <plait/sched/timer_queue.hpp>
#include <plait/sched/victims.hpp>
#include <plait/sched/worker.hpp>

#include <atomic>
#include <cstdint>

PLAIT_INTERFACE

namespace plait::sched {

/// The workers of a pool and what they do: they execute jobs, search for them, and sleep. The base of a pool, which
/// adds threads, and where it begins and ends.
class work_loops {
 protected:
  using clock = std::chrono::steady_clock;
  using nanoseconds = std::chrono::nanoseconds;

 public:
  work_loops(const work_loops&) = delete;
  work_loops& operator=(const work_loops&) = delete;

  /// Number of workers.
  unsigned size() const noexcept { return static_cast<unsigned>(workers_.size()); }

  worker& at(unsigned index) noexcept { return workers_[index]; }
  parking_lot& parking() noexcept { return parking_; }
  /// Counts the tasks that no running task has started.
  family& ground() noexcept { return ground_; }
  sched::outside* outside() const noexcept {
    return outside_.load(std::memory_order_acquire);  // partner: set_outside
  }
  /// Once. The pool's threads are looking for work already, and see it from then on.
  void set_outside(sched::outside* o) noexcept {
    outside_.store(o, std::memory_order_release);  // publishes what it points to; partner: outside
  }
  /// Whether more threads than processors compete, here or with other ranks: then searching gives way at once.
  void set_crowded(bool crowded) noexcept { crowded_.store(crowded, std::memory_order_relaxed); }  // a hint
  /// How long a worker looks around before it sleeps.
  void set_patience(nanoseconds patience) noexcept { patience_.store(patience, std::memory_order_relaxed); }  // a hint

  /// Queues a job from any thread: on a worker of this pool in its own deque, else for any worker.
  void post(job* j) {
    auto* w = worker::of_this_thread();
    if (w != nullptr && &w->home() == &self_) {
      const bool starts_something = j->as == nullptr;  // once it is pushed a thief may run and end it
      worker::push(w->own, j);
      if (starts_something) {
        parking_.notify();
      } else {
        parking_.notify_free();
      }
      return;
    }
    // The job may run, and all others end, before this thread is through: until then the pool must not end.
    ground_.add_subtree();
    victims_.injected.push(j);
    parking_.notify_all_kinds();
    ground_.subtree_ended();
  }

  /// Leaves a job, which may not run on top of this worker's stack, to free workers, to others that help and may run
  /// it, or to itself later. One of a bound unit goes to the worker where it may run.
  void put_aside(worker& w, job* j) noexcept {
    if (worker::is_bound(*j)) return w.index() == 0 && !w.may_run_bound() ? w.keep(j) : post_to(0, j);
    victims_.put_aside(w, j);
  }

  /// Where the tasks that sleep in this pool stand. Who has added the earliest timer calls timer_added.
  timer_queue& timers() noexcept { return timers_; }
  void timer_added() noexcept {
    if (auto* w = timekeeper_.load(std::memory_order_seq_cst)) {  // partner: rest
      parking_.wake(w->bed);
    } else {
      parking_.notify_free();
    }
  }

  /// Queues a job that only this worker may execute. Any thread.
  void post_to(unsigned index, job* j) {
    workers_[index].inbox.push(j);
    parking_.wake(workers_[index].bed);
  }

  /// The calling thread, a worker of this pool or about to be one, executes jobs until stop() is true. Who makes it
  /// true must wake the worker.
  void drive(worker& w, function_ref<bool()> stop) noexcept {
    w.enter(obs::activity::work);
    loop_until(w, worker::loop::free, stop, clock::time_point::max());
    w.enter(obs::activity::away);
  }

  /// The same inside a task that waits. It also ends when the time has come, looked at between two jobs.
  void help(worker& w, function_ref<bool()> stop, clock::time_point deadline = clock::time_point::max()) noexcept {
    auto* const beyond = outside();
    const bool in_bound = beyond != nullptr && beyond->in_bound();
    if (in_bound) beyond->leave_bound();
    loop_until(w, worker::loop::waiting, stop, deadline);
    w.counters.ran.add();
    if (in_bound) beyond->enter_bound();
  }

  /// Sets the signal that one of this pool's workers waits for. Any thread; the waiting may end at once, the pool does
  /// not.
  void signal_worker(worker& w, base::thread_signal& signal) noexcept {
    ground_.add_subtree();
    signal.set();
    parking_.wake(w.bed);
    ground_.subtree_ended();
  }

 protected:
  work_loops(pool& self, std::size_t size, std::uint64_t seed)
      : self_(self), workers_(size, [&self, seed](void* place, std::size_t i) {
          ::new (place) worker(self, static_cast<unsigned>(i), seed);
        }) {
    crowded_ = size > base::usable_processors();
  }
  ~work_loops() = default;

  /// The pool is at its end, and its threads too: what is left are holds on tasks that a blocking wait has run before
  /// it was their turn. Executing a job gives its up.
  void clear() noexcept {
    for (auto& w : workers_) {
      while (auto* j = w.next_own()) w.execute(j);
      while (auto* j = w.take_first(victims_.injected, w.own)) w.execute(j);
      end_spare_stacks(w);
    }
  }

 private:
  void loop_until(worker& w, worker::loop kind, function_ref<bool()> stop, clock::time_point deadline) noexcept {
    const worker::stack_scope scope(w, kind);
    const auto ended = [&] { return stop() || (deadline != clock::time_point::max() && base::now() >= deadline); };
    const auto one_ended = [&] { return ended() || ready_loop(w) != nullptr; };
    while (!ended()) {
      if (auto* other = ready_loop(w)) {
        left_loop own(ended, deadline);
        leave_for(w, own, *other);
      } else if (!step(w) && search(w, one_ended, first_deadline(w, deadline))) {
        left_loop own(ended, deadline);
        if (!leave_for_new(w, own, &work_beside, this)) give_up_stacks();
      }
    }
  }

  /// The loop on a new stack of a worker. It ends where others leave their stacks: nobody waits on this one.
  static void work_beside(void* loops, worker& w) noexcept {
    auto& self = *static_cast<work_loops*>(loops);
    const worker::stack_scope scope(w, worker::loop::free);
    const auto ended = [&w] { return ready_loop(w) != nullptr; };
    while (!ended()) {
      if (!self.step(w)) self.search(w, ended, first_deadline(w, clock::time_point::max()));
    }
  }

  /// One step of a worker's loop: executes one of its own jobs. False if there was none.
  bool step(worker& w) noexcept {
    if ((++w.steps & w.serve_mask) == 0) [[unlikely]]
      serve(w);
    auto* j = w.next_own();
    if (j == nullptr) j = victims_.steal_again(w);
    if (j == nullptr) return false;
    run(w, j);
    return true;
  }

  void run(worker& w, job* j) noexcept {
    if (w.may_run(*j)) [[likely]] {
      w.counters.ran.add();
      w.execute(j);
    } else if (worker::is_bound(*j) && w.index() == 0 && w.may_run_bound()) {
      outside()->enter_bound();
      w.counters.ran.add();
      w.execute(j);
      outside()->leave_bound();
    } else {
      put_aside(w, j);
    }
  }

  /// What must get its turn also while a worker has work of its own.
  void serve(worker& w) noexcept {
    w.served(base::now().time_since_epoch().count());
    if (auto* by = w.watched()) [[unlikely]]
      by->sampled(static_cast<std::uint64_t>(w.own.size() + w.submitted.size()));
    if (auto* o = outside()) {
      w.enter(obs::activity::communication);
      o->poll(w);
      w.enter(obs::activity::work);
    }
    fire_timers();
    for (int most = 64; most > 0; --most) {  // results that have just come: nobody else can take them
      auto* j = w.next_bound();
      if (j == nullptr) break;
      run(w, j);
    }
    if (auto* j = w.take_first(victims_.injected, w.own)) run(w, j);
    if (auto* j = w.take_first(w.fifo, w.own)) run(w, j);
    // Newest first: tasks that wake each other for ever, or yield, would keep older ones from their turn. Seldom, since
    // each time opens another branch of a recursion.
    if ((w.steps & 1023) == 0) {
      if (auto* j = w.own.steal()) run(w, j);
    }
  }

  /// Looks for a job in the whole process and beyond until it has executed one or stop() is true: first in turns, then
  /// asleep. True if it ends because there are jobs only for another stack.
  bool search(worker& w, function_ref<bool()> stop, clock::time_point deadline) noexcept {
    const auto role = w.role();
    w.enter(obs::activity::search);
    parking_.begin_search(role);
    for (;;) {
      const auto asides = victims_.asides();
      if (look_around(w, role, stop)) return false;
      const auto found = rest(w, role, asides, stop, deadline);
      if (found != rested::nothing) return found == rested::stuck;
    }
  }

  /// The turns of a search. True if it has ended: the worker is not counted as searching any more.
  bool look_around(worker& w, parking_lot::role role, function_ref<bool()> stop) noexcept {
    const bool crowded = crowded_.load(std::memory_order_relaxed);  // a hint, as is patience_
    const auto until = base::now() + (crowded ? nanoseconds(0) : patience_.load(std::memory_order_relaxed));
    // Giving way is a system call, which takes as long as a message from another rank.
    const unsigned turns_between = crowded || outside() == nullptr ? 4 : 64;
    for (unsigned turn = 1;; ++turn) {
      if (stop()) {
        end_search(w, role);
        return true;
      }
      auto* j = victims_.find(w);
      if (j != nullptr || reach_out(w) || fire_timers()) {
        end_search(w, role);
        if (j != nullptr) run(w, j);
        return true;
      }
      if (turn % 8 == 0 && base::now() >= until) return false;
      if (turn % turns_between == 0) {
        base::give_way();
      } else {
        base::pause();
      }
    }
  }

  /// Ends a search. Who pushed a job meanwhile has woken nobody, because this worker was searching, and what it has
  /// found may not be all.
  void end_search(worker& w, parking_lot::role role) noexcept {
    w.enter(obs::activity::work);
    if (!parking_.end_search(role)) return;
    parking_.see_pushes();
    const bool timed = timers_.any() && timekeeper_.load(std::memory_order_seq_cst) == nullptr;  // partner: rest
    if (victims_.injected.empty() && !timed && !victims_.anything_to_steal(jobs::all, nullptr)) return;
    parking_.notify_free();
    parking_.notify_all_kinds();
  }

  enum class rested { nothing, executed, stuck };

  /// Sleeps until there may be something to do; one worker at a time does so where it hears what comes from outside.
  /// asides: the count before its last look. The search has ended if there is something for another stack only, or,
  /// where there is none, that was executed here.
  rested rest(worker& w, parking_lot::role role, std::uint32_t asides, function_ref<bool()> stop,
              clock::time_point deadline) noexcept {
    auto* const beyond = outside();
    const bool listens =
        beyond != nullptr && beyond->may_listen(w) && !listening_.exchange(true, std::memory_order_seq_cst);
    std::uint64_t ticket = 0;
    if (listens) {
      w.bed.rouse_argument = beyond;
      w.bed.rouse = [](void* o) { static_cast<sched::outside*>(o)->wake(); };
      ticket = beyond->prepare_listen();
    }
    job* j = nullptr;
    bool stuck = false;
    worker* nobody = nullptr;
    const bool keeps_time = timekeeper_.compare_exchange_strong(nobody, &w, std::memory_order_seq_cst);
    parking_.lie_down(w.bed, role, !listens);
    // put_aside wakes after its change
    const bool new_aside = victims_.asides() != asides;
    const bool hopeless = !something_comes();  // before the look at the queues, where it comes
    if (!stop() && !new_aside && !victims_.anything_for(w) && !(beyond != nullptr && beyond->poll_last(w))) {
      stuck = victims_.stuck(w);
      const bool beside = stuck && may_open_loop(w) && more_stacks_.load(std::memory_order_relaxed);  // a hint
      if (stuck && !beside) {
        stuck = false;
        if (hopeless) j = victims_.last_resort(w);
      }
      if (!stuck && j == nullptr && !fire_timers() && !interrupt_suspended()) {
        w.counters.parked.add();
        w.enter(obs::activity::sleep);
        // read after lie_down: who adds an earlier timer wakes the timekeeper
        const auto until = keeps_time && timers_.next() < deadline ? timers_.next() : deadline;
        if (listens) {
          beyond->listen(ticket, until);
        } else {
          parking_.sleep(w.bed, until);
        }
        w.enter(obs::activity::search);
      }
    }
    parking_.rise(w.bed);
    if (keeps_time) timekeeper_.store(nullptr, std::memory_order_seq_cst);  // partner: timer_added
    if (listens) {
      w.bed.rouse = nullptr;
      listening_.store(false, std::memory_order_seq_cst);
    }
    if (j == nullptr && !stuck) return rested::nothing;
    end_search(w, role);
    if (stuck) return rested::stuck;
    w.counters.ran.add();
    w.execute(j);
    return rested::executed;
  }

  /// The system has no memory for another one.
  void give_up_stacks() noexcept { more_stacks_.store(false, std::memory_order_relaxed); }  // a hint

  /// Whether those that wait here may go on without what was put aside: then nothing of that may run on top of them,
  /// since it could wait for one of them.
  bool something_comes() const noexcept {
    const auto* const beyond = outside();
    return timers_.any() || (beyond != nullptr && beyond->expects_something());
  }

  /// Queues the tasks whose time has come. True if there were some.
  bool fire_timers() noexcept {
    if (!timers_.any()) return false;
    const auto now = base::now();
    return timers_.any_due(now) && post_all(timers_.take_due(now));
  }

  /// Where the pool is ending and this was its last worker awake.
  bool interrupt_suspended() noexcept {
    if (!closing_.load(std::memory_order_seq_cst) || parking_.sleepers() < size()) return false;
    bool something = false;
    for (auto& w : workers_) something = post_all(w.suspended.interrupt_all()) || something;
    return something;
  }

  bool post_all(job* list) noexcept {
    if (list == nullptr) return false;
    while (list != nullptr) post(base::exchange(list, list->next_job));
    return true;
  }

  bool reach_out(worker& w) noexcept {
    auto* o = outside();
    // First asks: where each look at the messages takes long, because the machine is full, each finds something.
    return o != nullptr && (o->seek(w) || o->poll(w));
  }

  struct ground_family : family {
    explicit ground_family(work_loops& of) noexcept : family(&drained), loops(of) {}
    work_loops& loops;
    base::thread_signal signal;
  };
  /// Worker 0 may be the thread that ends the pool, and sleep.
  static void drained(family* ground) noexcept {
    auto& all = *static_cast<ground_family*>(ground);
    all.loops.parking_.set_and_wake(all.signal, all.loops.workers_[0].bed);
  }

  pool& self_;
  base::atomic<bool> crowded_{false};
  base::atomic<nanoseconds> patience_{nanoseconds(20000)};
  base::atomic<bool> listening_{false};
  base::atomic<bool> more_stacks_{true};
  base::atomic<sched::outside*> outside_{nullptr};
  base::atomic<worker*> timekeeper_{nullptr};  ///< sleeps no longer than until the first timer

 protected:
  base::atomic<bool> closing_{false};
  ground_family ground_{*this};

 private:
  parking_lot parking_;
  timer_queue timers_;
  base::fixed_array<worker> workers_;
  victims victims_{workers_, parking_};
};

}  // namespace plait::sched
