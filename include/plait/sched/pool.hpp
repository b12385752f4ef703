// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/exchange.hpp>
#include <plait/base/fixed_array.hpp>
#include <plait/base/function_ref.hpp>
#include <plait/base/module.hpp>
#include <plait/base/pause.hpp>
#include <plait/base/thread.hpp>
#include <plait/sched/outside.hpp>
#include <plait/sched/pool_options.hpp>
#include <plait/sched/pool_part.hpp>
#include <plait/sched/timer_queue.hpp>
#include <plait/sched/victims.hpp>
#include <plait/sched/worker.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

namespace plait {

/// A set of workers that execute tasks. Any thread may give it work. Its end runs all that is queued or running.
class pool {
  using clock = std::chrono::steady_clock;
  using nanoseconds = std::chrono::nanoseconds;

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
    parking_.wake_all();  // the last that finds nothing looks for suspended tasks
    if (first_thread_ == 1) work_here([this] { return ground_.signal.is_set(); });
    ground_.signal.wait();
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

  /// Number of workers.
  unsigned size() const noexcept { return static_cast<unsigned>(workers_.size()); }

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

  sched::worker& at(unsigned index) noexcept { return workers_[index]; }
  sched::parking_lot& parking() noexcept { return parking_; }
  /// Counts the tasks that no running task has started.
  sched::family& ground() noexcept { return ground_; }
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

  /// Queues a job from any thread: on a worker of this pool in its own deque, else for any worker.
  void post(sched::job* j) {
    auto* w = sched::worker::of_this_thread();
    if (w != nullptr && &w->home() == this) {
      const bool starts_something = j->as == nullptr;  // once it is pushed a thief may run and end it
      sched::worker::push(w->own, j);
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
  void put_aside(sched::worker& w, sched::job* j) noexcept {
    if (sched::worker::is_bound(*j)) return w.index() == 0 && !w.may_run_bound() ? w.keep(j) : post_to(0, j);
    victims_.put_aside(w, j);
  }

  /// Where the tasks that sleep in this pool stand. Who has added the earliest timer calls timer_added.
  sched::timer_queue& timers() noexcept { return timers_; }
  void timer_added() noexcept {
    if (auto* w = timekeeper_.load(std::memory_order_seq_cst)) {  // partner: rest
      parking_.wake(w->bed);
    } else {
      parking_.notify_free();
    }
  }

  /// Queues a job that only this worker may execute. Any thread.
  void post_to(unsigned index, sched::job* j) {
    workers_[index].inbox.push(j);
    parking_.wake(workers_[index].bed);
  }

  /// The calling thread, a worker of this pool or about to be one, executes jobs until stop() is true. Who makes it
  /// true must wake the worker.
  void drive(sched::worker& w, function_ref<bool()> stop) noexcept {
    loop_until(w, sched::worker::loop::free, stop, clock::time_point::max());
  }

  /// The same inside a task that waits. It also ends when the time has come, looked at between two jobs.
  void help(sched::worker& w, function_ref<bool()> stop,
            clock::time_point deadline = clock::time_point::max()) noexcept {
    auto* const beyond = outside();
    const bool in_bound = beyond != nullptr && beyond->in_bound();
    if (in_bound) beyond->leave_bound();
    loop_until(w, sched::worker::loop::waiting, stop, deadline);
    if (in_bound) beyond->enter_bound();
  }

  /// Sets the signal that one of this pool's workers waits for. Any thread; the waiting may end at once, the pool does
  /// not.
  void signal_worker(sched::worker& w, base::thread_signal& signal) noexcept {
    ground_.add_subtree();
    signal.set();
    parking_.wake(w.bed);
    ground_.subtree_ended();
  }

  /// The calling thread is worker 0 until stop() is true.
  void work_here(function_ref<bool()> stop) noexcept {
    const sched::worker::thread_scope scope(at(0));
    drive(at(0), stop);
  }

 private:
  pool(pool_options options, unsigned first_thread, std::uint64_t seed)
      : first_thread_(first_thread),
        blocking_threads_(options.blocking_limit()),
        workers_(options.worker_count(),
                 [this, seed](void* place, std::size_t i) {
                   ::new (place) sched::worker(*this, static_cast<unsigned>(i), seed);
                 }),
        threads_(workers_.size(), [](void* place, std::size_t) { ::new (place) base::thread; }) {
    crowded_ = size() > base::usable_processors();
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
    parking_.wake_all();
    for (auto& t : threads_) t.join();
    // What is left are holds on tasks that a blocking wait has run before it was their turn: executing a job gives its
    // up.
    for (auto& w : workers_) {
      while (auto* j = w.next_own()) w.execute(j);
      while (auto* j = w.take_first(victims_.injected, w.own)) w.execute(j);
    }
  }

  void loop_until(sched::worker& w, sched::worker::loop kind, function_ref<bool()> stop,
                  clock::time_point deadline) noexcept {
    const sched::worker::stack_scope scope(w, kind);
    const auto ended = [&] { return stop() || (deadline != clock::time_point::max() && base::now() >= deadline); };
    while (!ended()) {
      if (step(w)) continue;
      search(w, ended, deadline);
    }
  }

  /// One step of a worker's loop: executes one of its own jobs. False if there was none.
  bool step(sched::worker& w) noexcept {
    if ((++w.steps & w.serve_mask) == 0) [[unlikely]]
      serve(w);
    auto* j = w.next_own();
    if (j == nullptr) j = victims_.steal_again(w);
    if (j == nullptr) return false;
    run(w, j);
    return true;
  }

  void run(sched::worker& w, sched::job* j) noexcept {
    if (w.may_run(*j)) [[likely]] {
      w.execute(j);
    } else if (sched::worker::is_bound(*j) && w.index() == 0 && w.may_run_bound()) {
      outside()->enter_bound();
      w.execute(j);
      outside()->leave_bound();
    } else {
      put_aside(w, j);
    }
  }

  /// What must get its turn also while a worker has work of its own.
  void serve(sched::worker& w) noexcept {
    w.served(base::now().time_since_epoch().count());
    if (auto* o = outside()) o->poll(w);
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
  /// asleep.
  void search(sched::worker& w, function_ref<bool()> stop, clock::time_point deadline) noexcept {
    const auto role = w.role();
    parking_.begin_search(role);
    for (;;) {
      const auto asides = victims_.asides();
      if (look_around(w, role, stop) || rest(w, role, asides, stop, deadline)) return;
    }
  }

  /// The turns of a search. True if it has ended: the worker is not counted as searching any more.
  bool look_around(sched::worker& w, sched::parking_lot::role role, function_ref<bool()> stop) noexcept {
    const bool crowded = crowded_.load(std::memory_order_relaxed);  // a hint, as is patience_
    const auto until = base::now() + (crowded ? nanoseconds(0) : patience_.load(std::memory_order_relaxed));
    // Giving way is a system call, which takes as long as a message from another rank.
    const unsigned turns_between = crowded || outside() == nullptr ? 4 : 64;
    for (unsigned turn = 1;; ++turn) {
      if (stop()) {
        leave_search(role);
        return true;
      }
      auto* j = victims_.find(w);
      if (j != nullptr || reach_out(w) || fire_timers()) {
        end_search(role);
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

  /// Ends a search that has found something; where one job lies there are often more.
  void end_search(sched::parking_lot::role role) noexcept {
    if (!parking_.end_search(role)) return;
    parking_.notify_free();
    parking_.notify();
  }

  /// Ends a search that has found nothing. Who pushed a job meanwhile has woken nobody, because this worker was
  /// searching.
  void leave_search(sched::parking_lot::role role) noexcept {
    if (!parking_.end_search(role)) return;
    parking_.see_pushes();
    const bool timed = timers_.any() && timekeeper_.load(std::memory_order_seq_cst) == nullptr;  // partner: rest
    if (victims_.injected.empty() && !timed && !victims_.anything_to_steal(sched::jobs::all, nullptr)) return;
    parking_.notify_free();
    parking_.notify_all_kinds();
  }

  /// Sleeps until there may be something to do; one worker at a time does so where it hears what comes from outside.
  /// True if it has found a last resort and executed it: the search has ended. asides: the count before its last look.
  bool rest(sched::worker& w, sched::parking_lot::role role, std::uint32_t asides, function_ref<bool()> stop,
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
    sched::job* j = nullptr;
    sched::worker* nobody = nullptr;
    const bool keeps_time = timekeeper_.compare_exchange_strong(nobody, &w, std::memory_order_seq_cst);
    parking_.lie_down(w.bed, role, !listens);
    // put_aside wakes after its change
    const bool new_aside = victims_.asides() != asides;
    const bool hopeless = !something_comes();  // before the look at the queues, where it comes
    if (!stop() && !new_aside && !victims_.anything_for(w) && !(beyond != nullptr && beyond->poll_last(w))) {
      if (hopeless) j = victims_.last_resort(w);
      if (j == nullptr && !fire_timers() && !interrupt_suspended()) {
        w.counters.parked.add();
        // read after lie_down: who adds an earlier timer wakes the timekeeper
        const auto until = keeps_time && timers_.next() < deadline ? timers_.next() : deadline;
        if (listens) {
          beyond->listen(ticket, until);
        } else {
          parking_.sleep(w.bed, until);
        }
      }
    }
    parking_.rise(w.bed);
    if (keeps_time) timekeeper_.store(nullptr, std::memory_order_seq_cst);  // partner: timer_added
    if (listens) {
      w.bed.rouse = nullptr;
      listening_.store(false, std::memory_order_seq_cst);
    }
    if (j == nullptr) return false;
    end_search(role);
    w.execute(j);
    return true;
  }

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

  bool post_all(sched::job* list) noexcept {
    if (list == nullptr) return false;
    while (list != nullptr) post(base::exchange(list, list->next_job));
    return true;
  }

  bool reach_out(sched::worker& w) noexcept {
    auto* o = outside();
    // First asks: where each look at the messages takes long, because the machine is full, each finds something.
    return o != nullptr && (o->seek(w) || o->poll(w));
  }

  static void drained(sched::family* ground) noexcept { static_cast<ground_family*>(ground)->signal.set(); }

  struct ground_family : sched::family {
    ground_family() noexcept : family(&drained) {}
    base::thread_signal signal;
  };

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
  base::atomic<bool> crowded_{false};
  base::atomic<nanoseconds> patience_{nanoseconds(20000)};
  base::atomic<bool> closing_{false};
  base::atomic<bool> stopping_{false};
  base::atomic<bool> listening_{false};
  base::atomic<sched::outside*> outside_{nullptr};
  base::atomic<sched::pool_part*> part_{nullptr};
  sched::parking_lot parking_;
  ground_family ground_;
  sched::timer_queue timers_;
  base::atomic<sched::worker*> timekeeper_{nullptr};  ///< sleeps no longer than until the first timer
  base::fixed_array<sched::worker> workers_;
  sched::victims victims_{workers_, parking_};
  base::fixed_array<base::thread> threads_;  ///< worker i's thread; none where the caller works
};

}  // namespace plait
