// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/clock.hpp>
#include <plait/base/exchange.hpp>
#include <plait/base/thread_slot.hpp>
#include <plait/base/topology.hpp>
#include <plait/obs/counters.hpp>
#include <plait/obs/time_account.hpp>
#include <plait/obs/watcher.hpp>
#include <plait/sched/deque.hpp>
#include <plait/sched/job.hpp>
#include <plait/sched/job_queue.hpp>
#include <plait/sched/parking.hpp>
#include <plait/sched/suspended_list.hpp>
#include <plait/sched/unit.hpp>

#include <coroutine>
#include <cstdint>
#include <utility>

PLAIT_INTERFACE

namespace plait::sched {

struct left_loop;
struct loop_stack;

/// One worker: its queues, what it runs now, and how much stack it may use. What it does is in work_loops.hpp.
class alignas(64) worker {
 public:
  /// seed: from which its random numbers come, together with the index.
  worker(pool& home, unsigned index, std::uint64_t seed) noexcept
      : home_(home), index_(index), random_((seed * 0xd1342543de82ef95u + index) * 0x9e3779b97f4a7c15u + 1) {
    if (random_ == 0) random_ = 1;
  }
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  deque own;         ///< continuations and spawned tasks: they can't leave the process
  deque submitted;   ///< submitted tasks: they can
  job_queue inbox;   ///< bound to this worker, from any thread
  job_queue placed;  ///< submitted tasks that would rather run here; thieves may take them
  job_queue fifo;    ///< jobs that gave way; thieves may take them
  job_queue aside;   ///< continuations that may not run on top of this worker's stack; free workers may take them
  suspended_list suspended;       ///< tasks that suspended here at timers, promises and sync objects
  worker* last_victim = nullptr;  ///< from whose deque it has stolen last
  unit* current = nullptr;        ///< the unit that runs now, or null
  std::uint32_t serve_mask = 63;  ///< it serves when these bits of steps are zero
  std::uint32_t serve_most = 63;  ///< what serve_mask becomes at most
  std::uint32_t steps = 0;        ///< of its loops
  left_loop* left = nullptr;      ///< loops whose stacks the thread has left: see left_loops.hpp
  loop_stack* spare_stacks = nullptr;
  unsigned loop_stacks = 0;  ///< how many there are
  parking_lot::bed bed;
  obs::worker_counters counters;
  obs::time_account account;

  /// Who wants to know what it does; null: nobody.
  obs::watcher* watched() const noexcept {
#if PLAIT_OBS
    return watched_.load(std::memory_order_acquire);  // partner: watch
#else
    return nullptr;
#endif
  }
  /// Before the pool's first task. It must outlive the pool.
  void watch(obs::watcher* by) noexcept {
    watched_.store(by, std::memory_order_release);  // partner: watched
    own.count_continuations();
  }
  /// It goes over to something else.
  void enter(obs::activity next) noexcept {
    if (watched() != nullptr) [[unlikely]]
      account.enter(next, base::now().time_since_epoch().count());
  }

  pool& home() const noexcept { return home_; }
  /// Its number within the pool.
  unsigned index() const noexcept { return index_; }

  /// The worker that the calling thread is, or null.
  PLAIT_ALWAYS_INLINE static worker* of_this_thread() noexcept { return static_cast<worker*>(base::thread_worker()); }

  /// xorshift64*, Vigna 2016.
  std::uint64_t random() noexcept {
    random_ ^= random_ >> 12;
    random_ ^= random_ << 25;
    random_ ^= random_ >> 27;
    return random_ * 0x2545f4914f6cdd1du;
  }

  /// The next job from the worker's own queues, or null.
  job* next_own() {
    if (auto* j = own.pop()) return j;
    if (auto* j = next_bound()) return j;
    if (auto* j = submitted.pop()) return j;
    if (auto* j = take_first(placed, submitted)) return j;
    return take_first(fifo, own);
  }

  /// It serves at the time `now`: keeps the time from one to the next below a fraction of a millisecond where tasks
  /// are long, and the cost of it low where they are short.
  void served(std::int64_t now) noexcept {
    const auto since = now - base::exchange(served_, now);
    if (since > 100'000) {
      serve_mask >>= 1;
    } else if (since < 25'000) {
      serve_mask = (serve_mask << 1 | 1) & serve_most;
    }
  }

  /// Whether it works inside a blocking wait.
  bool helping() const noexcept { return waiting_; }
  parking_lot::role role() const noexcept {
    if (!helping()) return parking_lot::role::free;
    return may_steal() ? parking_lot::role::helper : parking_lot::role::deep;
  }
  /// What it may steal: inside a blocking wait no continuations, of which most may not run here; nothing where half of
  /// the stack is used, so that tasks which have nothing to do with the wait do not pile up until the stack is too
  /// short for those that have.
  bool may_steal() const noexcept {
    return !helping() || static_cast<char*>(__builtin_frame_address(0)) > steal_floor_;
  }
  jobs stealable() const noexcept { return helping() ? jobs::fresh : jobs::all; }

  /// The next job that is bound to this worker, or null.
  job* next_bound() noexcept {
    if (bound_ == nullptr) bound_ = inbox.take_all();
    return bound_ == nullptr ? nullptr : base::exchange(bound_, bound_->next_job);
  }
  /// Jobs for this worker, by itself, from `first` to `last` in order, before those that wait.
  void add_bound(job* first, job* last) noexcept {
    last->next_job = bound_;
    bound_ = first;
  }
  bool has_bound() const noexcept { return bound_ != nullptr || !inbox.empty(); }

  /// Empties a queue, of its own or another worker: gives the oldest job, or null, and moves the rest to one of its own
  /// deques so that the next oldest comes next.
  job* take_first(job_queue& from, deque& rest) {
    auto* first = from.take_all();
    if (first == nullptr) return nullptr;
    auto* newest = reversed(first->next_job);
    while (newest != nullptr) push(rest, base::exchange(newest, newest->next_job));
    return first;
  }
  /// From a queue of any worker: the oldest job that may run on top of this stack, or null. The rest stays. One thread
  /// at a time of those that call it for the same queue, so that none misses what another has in its hands.
  job* take_allowed(job_queue& from) noexcept {
    job* chosen = nullptr;
    job* next = nullptr;
    for (auto* j = from.take_all(); j != nullptr; j = next) {
      next = j->next_job;
      if (chosen == nullptr && may_run(*j)) {
        chosen = j;
      } else {
        from.push(j);
      }
    }
    return chosen;
  }
  /// Owner of the deque only.
  static void push(deque& to, job* j) {
    if (j->as != nullptr) {
      to.push_continuation(j);
    } else {
      to.push(j);
    }
  }

  // Inside a blocking wait a worker runs other tasks on top of the one that waits, which can go on only when they have
  // left the stack. If one of them then waited in the same way for a task below it, neither could go on. A task waits
  // for those that it has started, directly or not, so what must not run on top is a continuation of whoever started a
  // task below. Logical clocks tell (Lamport 1978): a unit gets a time that is later than its parent's and than that of
  // every unit which waits below it on the stack. Hence only units with a later time than the topmost one that waits go
  // on here; new ones always may. So times increase from the bottom of a stack to its top, and of all that wait, the
  // unit with the latest time finds what it waits for on every worker's list of what may run. Times travel with what is
  // started in another process, so this holds for all of them together.
  //
  // Some tasks are waited for by others than those that have started them: bodies that run one after another keep all
  // from their end that have started later ones. Such a unit, and what it starts, has a time later than all others.

  static constexpr std::uint64_t later_than_others = std::uint64_t{1} << 63;

  /// A unit starts here: gives it its time, later also than those of all that have started here before.
  void begin(unit& u) noexcept {
    const auto after = u.started > waiting_since_ ? u.started : waiting_since_;
    see(after);
    // relaxed: read by who asks whether it is buried
    base::atomic_ref<std::uint64_t>(u.started).store(++clock_ | (after & later_than_others), std::memory_order_relaxed);
    current = &u;
  }
  /// A forked child starts here, on top of its parent, which ran here.
  PLAIT_ALWAYS_INLINE void begin_child(unit& u, const unit& parent) noexcept {
    u.started = time_of(parent) + 1;
    current = &u;
  }
  /// The time of a unit that runs here.
  PLAIT_ALWAYS_INLINE std::uint64_t time_of(const unit& u) const noexcept {
    return is_bound(u) ? bound_since_ : u.started;
  }
  /// A unit goes on here that may have run elsewhere.
  void enter(unit* u) noexcept {
    if (u != nullptr) see(u->started);
    current = u;
  }
  /// Whether the job may run on top of this worker's stack. Never for a bound unit: see may_run_bound.
  bool may_run(const job& j) const noexcept { return j.as == nullptr || may_go_on(*j.as); }
  PLAIT_ALWAYS_INLINE bool may_go_on(const unit& u) const noexcept { return u.started > waiting_since_; }

  // A bound unit runs on one worker only, the first of its pool, and between two calls of the layer above
  // (outside::enter_bound and leave_bound). A start of 0 marks it, so that may_run fails for it without another test;
  // its true start is kept here. There is one at a time.

  static bool is_bound(const unit& u) noexcept { return u.started == 0; }
  static bool is_bound(const job& j) noexcept { return j.as != nullptr && is_bound(*j.as); }
  /// The unit that has just begun here goes on only here from now on.
  void bind(unit& u) noexcept { bound_since_ = base::exchange(u.started, std::uint64_t{0}); }
  /// Whether a bound unit, whose worker this is, may run on top of the stack.
  bool may_run_bound() const noexcept { return bound_since_ > waiting_since_; }
  /// Its continuation, which may not: it waits until the stack has become lower.
  void keep(job* j) noexcept { kept_ = j; }

  void execute(job* j) noexcept {
    auto* const by = watched();
    if (by != nullptr) [[unlikely]]
      by->went_on(j->as);
    j->execute(j, *this);
    drain_stash();
    current = nullptr;
    if (by != nullptr) [[unlikely]]
      by->returned();
  }

  /// Resumes a coroutine, on top of the stack, until control comes back.
  void resume(std::coroutine_handle<> h) noexcept {
    h.resume();
    drain_stash();
  }
  /// The same in the middle of a unit, for a coroutine that belongs to none.
  void resume_foreign(std::coroutine_handle<> h) noexcept {
    auto* const unit_before = base::exchange(current, nullptr);
    const auto stashed_before = base::exchange(stashed_, {});
    resume(h);
    current = unit_before;
    stashed_ = stashed_before;
  }

  /// What await_suspend returns to go on with `h`: `h` itself, or, where that would let the stack grow without end, a
  /// coroutine that does nothing; the loop that resumed us then resumes `h`.
  PLAIT_ALWAYS_INLINE static std::coroutine_handle<> transfer(std::coroutine_handle<> h) noexcept {
#if !PLAIT_TAIL_TRANSFER
    if (base::is_below_thread_floor()) [[unlikely]]
      return of_this_thread()->stash(h);
#endif
    return h;
  }

  /// What a loop of this worker runs on: the worker's own stack, or that of a task that waits.
  enum class loop { free, waiting };

  /// The stack that a loop of this worker may use; loops nest when a blocking wait helps.
  class stack_scope {
   public:
    stack_scope(worker& w, loop kind) noexcept
        : worker_(w),
          current_(w.current),
          waiting_since_(w.waiting_since_),
          waiting_(w.waiting_),
          outer_(w.innermost_) {
      auto* lowest = static_cast<char*>(__builtin_frame_address(0)) - transfer_stack;
      floor_ = base::exchange_thread_floor(lowest > w.help_floor_ ? lowest : w.help_floor_);
      if (w.current != nullptr) {
        const auto since = w.time_of(*w.current);
        if (since > w.waiting_since_) w.waiting_since_ = since;
      }
      w.current = nullptr;
      w.waiting_ = kind == loop::waiting;
      w.innermost_ = this;
    }
    ~stack_scope() {
      base::exchange_thread_floor(floor_);
      worker_.current = current_;
      worker_.waiting_since_ = waiting_since_;
      worker_.waiting_ = waiting_;
      worker_.innermost_ = outer_;
      if (!worker_.aside.empty()) worker_.reconsider();
      if (worker_.kept_ != nullptr) worker_.inbox.push(base::exchange(worker_.kept_, nullptr));
    }
    stack_scope(const stack_scope&) = delete;
    stack_scope& operator=(const stack_scope&) = delete;

   private:
    friend worker;
    worker& worker_;
    char* floor_;
    unit* current_;
    std::uint64_t waiting_since_;
    bool waiting_;
    stack_scope* outer_;
  };

  /// Whether the unit is in a blocking wait further down on this thread's stack: it can't go on before what runs now
  /// ends. No look at those that are earlier.
  bool is_buried(const unit* u) const noexcept {
    // relaxed: another worker may be starting it; the time of a unit that is down here does not change any more
    const auto since = base::atomic_ref<std::uint64_t>(const_cast<unit*>(u)->started).load(std::memory_order_relaxed);
    for (auto* scope = innermost_; scope != nullptr; scope = scope->outer_) {
      if (scope->current_ == u) return true;
      if (since > scope->waiting_since_) return false;  // all further down have waited since then, or before
    }
    return false;
  }

  /// What belongs to the stack on which a loop of this worker runs. By default: of one where nobody waits.
  struct stack_state {
    std::uint64_t waiting_since = 0;
    bool waiting = false;
    char* help_floor = nullptr;
    char* steal_floor = nullptr;
    stack_scope* innermost = nullptr;
  };
  /// The thread is about to go from a loop to another stack; gives what belongs to this one.
  stack_state exchange_stack(const stack_state& next) noexcept {
    const stack_state before{waiting_since_, waiting_, help_floor_, steal_floor_, innermost_};
    waiting_since_ = next.waiting_since;
    waiting_ = next.waiting;
    help_floor_ = next.help_floor;
    steal_floor_ = next.steal_floor;
    innermost_ = next.innermost;
    if (kept_ != nullptr) inbox.push(base::exchange(kept_, nullptr));
    return before;
  }

  /// Whether a blocking wait may still run tasks on top of the stack.
  bool may_help() const noexcept { return static_cast<char*>(__builtin_frame_address(0)) > help_floor_; }

  /// The thread has gone to another stack, until the scope ends: one that ends at `floor`, and from which it steals
  /// while it is above `steal_floor`.
  class other_stack_scope {
   public:
    other_stack_scope(worker& w, char* floor, char* steal_floor) noexcept
        : worker_(w), help_floor_(w.help_floor_), steal_floor_(w.steal_floor_) {
      w.help_floor_ = floor + reserve_of(static_cast<char*>(__builtin_frame_address(0)) - floor);
      w.steal_floor_ = steal_floor;
    }
    ~other_stack_scope() {
      worker_.help_floor_ = help_floor_;
      worker_.steal_floor_ = steal_floor_;
    }
    other_stack_scope(const other_stack_scope&) = delete;
    other_stack_scope& operator=(const other_stack_scope&) = delete;

   private:
    worker& worker_;
    char* help_floor_;
    char* steal_floor_;
  };

  /// Makes the calling thread this worker, until the scope ends.
  class thread_scope {
   public:
    explicit thread_scope(worker& w) noexcept : before_(base::thread_worker()) {
      auto* floor = base::stack_floor();
      auto* here = static_cast<char*>(__builtin_frame_address(0));
      if (floor != nullptr) {
        w.help_floor_ = floor + reserve_of(here - floor);
        w.steal_floor_ = floor + (here - floor) / 2;
      }
      base::set_thread_worker(&w);
    }
    ~thread_scope() { base::set_thread_worker(before_); }
    thread_scope(const thread_scope&) = delete;
    thread_scope& operator=(const thread_scope&) = delete;

   private:
    void* before_;
  };

 private:
  static constexpr std::ptrdiff_t transfer_stack = 64 * 1024;
  /// A third of what is left, at most 256 KiB, stays for user code on top of the deepest wait.
  static std::ptrdiff_t reserve_of(std::ptrdiff_t stack) noexcept {
    return stack / 3 < 256 * 1024 ? stack / 3 : 256 * 1024;
  }

  void see(std::uint64_t time) noexcept {
    time &= ~later_than_others;
    if (time > clock_) clock_ = time;
  }

  /// Where the stack has become lower: what was put aside may run now, in the order in which it lay in the deque
  /// before.
  void reconsider() noexcept {
    auto* newest = reversed(aside.take_all());
    while (newest != nullptr) push(own, base::exchange(newest, newest->next_job));
  }

  void drain_stash() noexcept {
    while (stashed_) base::exchange(stashed_, {}).resume();
  }
  /// There is one place: where code that was resumed by hand ends here twice before control comes back, the second goes
  /// on at once.
  PLAIT_NOINLINE std::coroutine_handle<> stash(std::coroutine_handle<> h) noexcept {
    if (stashed_) return h;
    stashed_ = h;
    return std::noop_coroutine();
  }

  pool& home_;
  unsigned index_;
  std::uint64_t random_;
  base::atomic<obs::watcher*> watched_{nullptr};
  std::coroutine_handle<> stashed_;
  std::uint64_t clock_ = 0;          ///< the latest time that a unit got here from a queue
  std::uint64_t waiting_since_ = 0;  ///< the time of the topmost unit that waits on the stack, 0 if none does
  std::uint64_t bound_since_ = 0;    ///< the time of the unit that was bound here last
  std::int64_t served_ = 0;          ///< when it served last
  bool waiting_ = false;
  job* bound_ = nullptr;  ///< taken from the inbox, in order
  job* kept_ = nullptr;
  char* help_floor_ = nullptr;
  char* steal_floor_ = nullptr;
  stack_scope* innermost_ = nullptr;  ///< of its loops
};

}  // namespace plait::sched
