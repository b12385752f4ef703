// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/box.hpp>
#include <plait/base/clock.hpp>
#include <plait/base/compose.hpp>
#include <plait/dist/agreement.hpp>
#include <plait/dist/balancer.hpp>
#include <plait/dist/credits_due.hpp>
#include <plait/dist/deliveries.hpp>
#include <plait/dist/dispatch.hpp>
#include <plait/dist/link.hpp>
#include <plait/dist/local_objects.hpp>
#include <plait/dist/native_section.hpp>
#include <plait/dist/options.hpp>
#include <plait/dist/placement.hpp>
#include <plait/dist/pollables.hpp>
#include <plait/dist/portable.hpp>
#include <plait/dist/progress_thread.hpp>
#include <plait/dist/replies.hpp>
#include <plait/dist/run_end.hpp>
#include <plait/dist/slots.hpp>
#include <plait/dist/spmd_queue.hpp>
#include <plait/dist/stall_watch.hpp>
#include <plait/dist/stealable.hpp>
#include <plait/dist/stop_requests.hpp>
#include <plait/dist/worker_numbers.hpp>
#include <plait/net/thread_level.hpp>
#include <plait/net/transport.hpp>
#include <plait/wire/exception.hpp>

#include <atomic>
#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
class runtime;
namespace dist {
/// One rank of a job: joins its pool of workers to the transport. Submitted tasks go out and come in here, idle ranks
/// are served and others asked, and the end of a run is found.
///
/// One thread at a time holds the transport; it handles what has arrived and sends what was collected. Workers try to
/// get it between two jobs; if none does for a while, the progress thread does.
class node final : public sched::outside, link_owner, progress_owner {
 public:
  /// o: resolved. ids, numbers: what the ranks have agreed on. abort: ends the job.
  node(net::transport& transport, const options& o, thread_level level, wire::registry_ids ids, worker_numbers numbers,
       void (*abort)())
      : level_(level),
        link_(transport, *this),
        replies_(link_),
        stops_(link_, replies_, slots_),
        credits_(link_),
        end_(link_),
        abort_(abort),
        ids_(std::move(ids)),
        numbers_(std::move(numbers)),
        tasks_(pool_),
        dispatch_(*this, pool_, link_, ids_, tasks_),
        balancer_(link_, tasks_, pool_, dispatch_, o.stealing != 0),
        progress_(*this, base::nanoseconds_of(o.server_yieldtime < 0.00005 ? 0.00005 : o.server_yieldtime)),
        stall_(link_, end_, {slots_, stops_.here(), pollables_, pool_}, base::nanoseconds_of(o.stall_warn)),
        pool_(pool::caller_works, {.workers = o.workers}, base::seed_of(static_cast<unsigned>(transport.rank()))) {
    pool_.set_outside(this);
    pool_.set_crowded(transport.crowded() || static_cast<unsigned>(o.workers) > base::usable_processors());
    // Where only worker 0 may use MPI, it prefers messages to tasks, unless it is the only one that runs tasks.
    if (!any_thread_polls() && o.workers > 1) pool_.at(0).serve_mask = pool_.at(0).serve_most = 0;
    if (o.worker_yieldtime > 0) pool_.set_patience(base::nanoseconds_of(o.worker_yieldtime));
    if (any_thread_polls() && size() > 1) progress_.start();
  }
  ~node() override { progress_.stop(); }

  // ---- what tasks ask ----

  int rank() const noexcept { return transport().rank(); }
  int size() const noexcept { return transport().size(); }
  /// Of the workers of all ranks.
  const worker_numbers& numbers() const noexcept { return numbers_; }
  plait::pool& pool() noexcept { return pool_; }
  net::transport& transport() const noexcept { return link_.transport(); }
  thread_level level() const noexcept { return level_; }
  void set_stealing(bool on) noexcept { balancer_.set(on); }
  void set_owner(runtime* r) noexcept { owner_ = r; }
  runtime& owner() const noexcept { return *owner_; }
  local_objects& objects() noexcept { return objects_; }
  const link& outgoing() const noexcept { return link_; }

  // ---- what submit does ----

  /// Queues or sends a new task. Throws plait::error for a rank or worker that does not exist, and what packing throws.
  void place(portable* task, placement where, sched::worker& w) {
    using dist::place;
    auto [kind, index] = where;
    if (kind == place::anywhere && !balancer_.on()) kind = w.current == context_.root ? place::cyclic : place::here;
    if (kind == place::cyclic) {
      kind = place::prefer_worker;
      // relaxed: a counter; the order of two submits does not matter
      index =
          static_cast<int>(cyclic_.fetch_add(1, std::memory_order_relaxed) % static_cast<unsigned>(numbers_.count()));
    }
    const auto [target, local] = find_place(numbers_, {kind, index}, rank());
    if (target != rank()) {
      if (task->claim_to_leave()) dispatch_.ship(task, target, kind, local);
    } else {
      dispatch_.queue(task, kind, local, &w.home() == &pool_ ? &w : nullptr);
      if (balancer_.someone_waits() && kind != place::here && kind != place::on_rank) feed_from(w);
    }
  }

  /// What sends results of tasks to where they were submitted.
  replies& answers() noexcept { return replies_; }
  stop_requests& stops() noexcept { return stops_; }
  /// What gives credit back for tasks that came from other ranks.
  credits_due& credits() noexcept { return credits_; }

  /// Tests `p` with each poll until it is done.
  void add_pollable(pollable& p) {
    const bool held = native_section::inside(link_);
    if (!held) link_.hold().acquire();
    pollables_.add(p);
    if (!held) link_.release();
    call_poller();  // also who listens already, because nobody announces the end of a request
  }

  std::uint64_t add_slot(awaiting_reply& who) { return slots_.add(who); }
  /// Of a task that has not left after all.
  void remove_slot(std::uint64_t slot) {
    slots_.remove(slot);
    slots_.delivered(1);
  }

  // ---- spmd ----

  /// prepare(owner) is called once on each rank before the first body, in the thread that runs it.
  void set_spmd_preparation(void (*prepare)(runtime& owner)) noexcept { prepare_spmd_ = prepare; }
  void before_spmd_body() {
    if (prepare_spmd_ != nullptr) std::exchange(prepare_spmd_, nullptr)(*owner_);
  }

  /// Asks rank 0 to let every rank run a body once. `fill(writer&)` writes its arguments.
  /// started: the caller's time.
  void request_spmd(const return_address& to, std::uint64_t started, const wire::registry_entry& callable,
                    function_ref<void(wire::writer&)> fill) {
    const spmd_head head{to, 0, started, ids_.id_of(callable), 0};
    link_.send(0, message::spmd_request, [&](wire::writer& out) {
      out.write(&head, sizeof head);
      fill(out);
    });
  }

  /// A body has ended on this rank: the next one may start.
  void spmd_ended() {
    spmd_.ended();
    start_next_spmd();
  }

  // ---- a run ----

  /// Collective. Starts this rank's root task, if it has one (`start(family&, context&)` gives its unit and queues it
  /// on worker 0), and works until all tasks of all ranks have ended. The calling thread is worker 0 meanwhile.
  void work(function_ref<const sched::unit*(sched::family&, run_context&)> start) {
    begin_run();
    {
      const sched::worker::thread_scope scope(pool_.at(0));
      context_.root = start(*family_, context_);
      link_.enter(handler());
      progress_.run_began();
      // Worker 0 does not search; one that has slept since before the run does, and asks other ranks.
      if (size() > 1 && !family_->idle()) pool_.parking().notify();
      pool_.drive(pool_.at(0), [this] { return left_.load(std::memory_order_acquire); });  // partner: leave_now
    }
    progress_.run_ended();
    link_.leave(handler());
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  /// The root task of this rank has thrown; before it counts as ended.
  void root_failed(const std::exception_ptr& e) noexcept {
    std::vector<std::byte> bytes;
    try {
      wire::writer out(bytes);
      wire::encode_exception(out, e, rank(), transport().host_name(), "the root task");
    } catch (...) {
      bytes.clear();
    }
    const link::held own(link_);
    end_.note_failure(rank(), std::move(bytes));
  }
  /// After a run: the exception of the lowest rank whose root threw.
  const termination::failure& lowest_failure() const noexcept { return end_.lowest_failure(); }

  // ---- sched::outside ----

  bool poll(sched::worker& w) noexcept override { return may_poll(&w) && poll_as(&w, false); }
  bool poll_last(sched::worker& w) noexcept override { return may_poll(&w) && poll_as(&w, true); }

  bool seek(sched::worker& w) noexcept override {
    if (!may_poll(&w)) return call_poller(), false;  // this worker's last task may have been the run's
    if (size() == 1 || !balancer_.may_ask() || !link_.hold().try_acquire()) return false;
    if (should_ask()) {
      balancer_.ask(w);
      flush_or_fail();
    }
    link_.release();
    return false;
  }

  bool may_listen(const sched::worker& w) const noexcept override { return link_.in_run() && may_poll(&w); }
  std::uint64_t prepare_listen() noexcept override { return transport().prepare_sleep(); }
  void listen(std::uint64_t ticket, std::chrono::steady_clock::time_point until) noexcept override {
    auto at_most = base::time_until(until);
    if (const auto left = stall_.time_left(); left < at_most) at_most = left;
    if (pollables_.any() && poll_nap < at_most) at_most = poll_nap;  // nobody announces the end of a native request
    progress_.worker_listens();
    transport().sleep(ticket, at_most);
    progress_.worker_rises();
  }
  void wake() noexcept override { transport().wake(); }
  bool expects_something() const noexcept override { return pollables_.any() || slots_.any_expected(); }

  // Below MPI_THREAD_MULTIPLE an spmd body runs on worker 0 alone, and keeps plait off MPI while it does.
  void enter_bound() noexcept override {
    native_section::open(link_);
    if (size() > 1) flush_or_fail();  // what others need is on its way before the body goes on
  }
  void leave_bound() noexcept override { native_section::close(link_); }
  bool in_bound() const noexcept override { return native_section::inside(link_); }

 private:
  static constexpr std::chrono::nanoseconds poll_nap{50000};
  static constexpr int most_looks = 4;

  // ---- progress; link_owner, progress_owner ----

  bool may_pump() const noexcept override { return may_poll(sched::worker::of_this_thread()); }
  void poll_later() noexcept override { progress_.poll_later(); }
  void poll_for_all() noexcept override { poll_as(nullptr, true); }

  bool any_thread_polls() const noexcept { return level_ >= thread_level::serialized; }
  bool may_poll(const sched::worker* w) const noexcept {
    return any_thread_polls() || (w != nullptr && w->index() == 0 && &w->home() == &pool_);
  }

  void call_poller() noexcept override {
    if (any_thread_polls()) return transport().wake();  // or whoever goes to sleep next polls first
    pool_.parking().wake(pool_.at(0).bed);
  }

  struct message_handler {
    node& self;
    void operator()(int source, message k, std::span<const std::byte> body) const { self.handle(source, k, body); }
  };
  link::handler handler() noexcept { return handler_; }

  /// w: the polling worker, or null for the progress thread. must: if another thread is at it, it looks again.
  bool poll_as(sched::worker* w, bool must) noexcept {
    if (!(must ? link_.hold().try_acquire_or_leave_word() : link_.hold().try_acquire())) return false;
    bool something = false;
    bool asleep_too_soon = false;
    deliveries done;
    pollable* ready = nullptr;
    stop_requests::list to_stop;
    for (int looks = 1;; ++looks) {
      something = poll_once(w, must, looks > 1, done, ready, to_stop) || something;
      asleep_too_soon = should_ask();
      if (!link_.hold().release()) break;
      if (looks == most_looks) {  // what was found must not wait: others may leave word again and again
        call_poller();
        break;
      }
      if (!link_.hold().try_acquire_or_leave_word()) break;  // whoever has it now gets the word
    }
    start_next_spmd();
    something = something || ready != nullptr;
    if (!to_stop.empty()) stops_.stop(to_stop, w);
    // A worker that went to sleep meanwhile has not seen the answer after which it may ask again, nor an end in stop.
    if (w == nullptr && (asleep_too_soon || !to_stop.empty())) call_poller();
    if (asleep_too_soon) pool_.parking().notify();
    if (done.count() != 0 || ready != nullptr) deliver(done, ready, w);
    return something;
  }

  // By the holder.
  bool should_ask() const noexcept { return balancer_.may_ask() && link_.in_run() && !end_.closing(); }
  /// last: the worker is about to sleep. called: by somebody who left word.
  bool poll_once(sched::worker* w, bool last, bool called, deliveries& done, pollable*& ready,
                 stop_requests::list& to_stop) noexcept {
    if (!link_.in_run()) return false;
    bool something = false;
    progress_.polled();
    poller_ = {w, last};
    try {
      if (!link_.quiet()) something = link_.poll(handler());
      if (balancer_.someone_waits()) balancer_.feed(w == nullptr ? 0 : 1);
      if (balancer_.may_ask_early() && !family_->idle() && !end_.closing()) balancer_.ask_early();
      pollables_.test(ready);
      stops_.take(to_stop);
      if (family_->idle()) look_for_end();
      // Others may have had the transport each time that it wanted to ask.
      if (last && w != nullptr && should_ask()) balancer_.ask(*w);
      if (last || called) stall_.look({w, last}, !family_->idle());
      link_.flush_polled(last || called);
    } catch (...) {
      fail(std::current_exception());
    }
    poller_ = {};
    done.add(completed_);
    return something;
  }

  /// Tells those whose results have come, and whose native requests have ended.
  void deliver(deliveries& done, pollable* ready, sched::worker* w) noexcept {
    pollables_.resume_all(ready);
    done.queue(w, pool_);
    slots_.delivered(done.count());
    if (w == nullptr && !expects_something()) pool_.parking().wake_all();
  }

  /// A worker has queued a task that others wait for.
  void feed_from(sched::worker& w) {
    if (!may_poll(&w) || !link_.hold().try_acquire()) return;
    balancer_.feed(1);
    flush_or_fail();
    link_.release();
  }

  /// The transport, a message, or the memory for one has failed: the run can't go on here, and the others would wait.
  void fail(std::exception_ptr e) noexcept {
    if (abort_ != nullptr && size() > 1) {
      std::fprintf(stderr, "plait: rank %d can't go on, so the job is aborted: %s\n", rank(),
                   plait::detail::in_one_line(plait::detail::describe(e)).c_str());
      abort_();
    }
    if (!failure_) failure_ = std::move(e);
    leave_now();
  }

  void flush_or_fail() noexcept {
    try {
      link_.flush();
    } catch (...) {
      fail(std::current_exception());
    }
  }

  // ---- start and end ----

  void begin_run() {
    if (link_.in_run())
      throw error("plait: run was called inside a run of the same runtime; await or submit tasks instead");
    link_.next_run();
    end_.reset();
    balancer_.reset();
    spmd_.reset();
    stops_.reset();
    stall_.reset();
    cyclic_.store(0, std::memory_order_relaxed);  // before enter, which publishes all of this
    left_.store(false, std::memory_order_relaxed);
    family_ = base::box<sched::family>(new sched::family([](sched::family*) noexcept {}));
    context_ = {this, nullptr, false};
    spmd_context_ = {this, nullptr, true};
  }

  void look_for_end() {
    if (left_.load(std::memory_order_relaxed)) return;  // written by holders
    if (end_.found(family_->idle())) leave_now();
  }

  void leave_now() noexcept {
    left_.store(true, std::memory_order_release);  // partner: work
    pool_.parking().wake(pool_.at(0).bed);
  }

  // ---- messages; all by the holder of the transport ----

  void handle(int source, message kind, std::span<const std::byte> payload) {
    switch (kind) {
      case message::task:
        return on_task(source, payload);
      case message::result:
        return on_result(source, payload);
      case message::spmd_request:
        return on_spmd(payload, true);
      case message::spmd_start:
        return on_spmd(payload, false);
      case message::steal:
        return balancer_.on_steal(source, take_head<steal_head>(payload), poller_.worker == nullptr ? 0 : 1);
      case message::steal_done:
        return balancer_.on_steal_done(take_head<reply_head>(payload));
      case message::lifeline:
        return balancer_.on_lifeline(source);
      case message::moved:
        return stops_.on_moved(source, take_head<moved_head>(payload));
      case message::credit:
        return link_.returned(source, take_head<credit_head>(payload).cost);
      case message::calm_ask:
      case message::calm_said:
      case message::stalled:
        return stall_.on(kind, payload, poller_, !family_->idle());
      case message::stop:
        return stops_.on_stop(take_head<return_address>(payload));
      case message::wave_down:
        return end_.on_wave_down(payload);
      case message::wave_up:
        return end_.on_wave_up(payload);
      case message::leave:
        return end_.on_leave(payload);
    }
    throw error(base::compose({"plait: a message of unknown kind ", static_cast<int>(kind), " came from rank ", source,
                               ": the ranks run different versions of plait, or it is damaged"}));
  }

  void on_task(int source, std::span<const std::byte> payload) {
    const auto head = take_head<task_head>(payload);
    auto* task = import(head.callable, head.to, payload, head.in_spmd != 0 ? spmd_context_ : context_, head.started);
    task->moves = head.moves;
    stops_.came(*task, head.to, payload.size());
    const auto where = static_cast<dist::place>(head.place);
    if (dispatch::counts(where)) task->creditor = source;
    if (where == dist::place::anywhere) balancer_.on_given(source);
    dispatch_.queue(task, where, head.local_worker, poller_.worker);
  }

  void on_result(int source, std::span<const std::byte> payload) {
    const auto head = take_result_head(payload, source == rank());
    auto& who = slots_.receive(head.to.slot);
    wire::reader in(payload);
    who.accept(in, head);
    if (who.expected == 0) completed_.add(who);
  }

  /// Sends the start of a body on down the tree and queues it here. asked: this is rank 0, which numbers it.
  void on_spmd(std::span<const std::byte> arguments, bool asked) {
    auto head = take_head<spmd_head>(arguments);
    if (asked) head.number = spmd_.next_number();
    end_.for_children([&](int child) { link_.send_head(child, message::spmd_start, head, arguments); });
    auto to = head.to;
    to.part = rank();
    spmd_.add(head.number, import(head.callable, to, arguments, spmd_context_, head.started));
  }

  visitor* import(std::uint32_t id, const return_address& to, std::span<const std::byte> arguments,
                  run_context& context, std::uint64_t started) {
    const auto& callable = ids_.entry(id);
    auto* task = static_cast<const operations*>(callable.operations())->import(callable, *this, to, arguments);
    task->self = {nullptr, family_.get(), &context, started};
    family_->add_child();
    return task;
  }

  /// Below MPI_THREAD_MULTIPLE bodies run on worker 0, the thread that MPI belongs to.
  void start_next_spmd() { spmd_.start_next(pool_, level_ == thread_level::multiple); }

  runtime* owner_ = nullptr;
  const thread_level level_;
  mutable link link_;
  slot_table slots_;
  replies replies_;
  stop_requests stops_;
  credits_due credits_;
  spmd_queue spmd_;
  void (*prepare_spmd_)(runtime& owner) = nullptr;
  local_objects objects_;

  // Used by who holds the transport.
  message_handler handler_{*this};
  run_end end_;
  deliveries completed_;
  pollables pollables_;
  poller poller_;
  std::exception_ptr failure_;

  // Of the present run.
  /// Counts the root and what came from other ranks; its own place is never given up.
  base::box<sched::family> family_;
  run_context context_{this, nullptr, false};
  run_context spmd_context_{this, nullptr, true};
  base::atomic<bool> left_{false};
  base::atomic<unsigned> cyclic_{0};

  void (*const abort_)();
  wire::registry_ids ids_;
  worker_numbers numbers_;
  stealable tasks_;
  dispatch dispatch_;
  balancer balancer_;
  progress_thread progress_;
  stall_watch stall_;
  plait::pool pool_;  ///< ends before all of the above, which its threads use
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
