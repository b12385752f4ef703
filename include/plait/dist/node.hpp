// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/agreement.hpp>
#include <plait/dist/options.hpp>
#include <plait/dist/outbox.hpp>
#include <plait/dist/placement.hpp>
#include <plait/dist/portable.hpp>
#include <plait/dist/progress_thread.hpp>
#include <plait/dist/slots.hpp>
#include <plait/dist/spmd_queue.hpp>
#include <plait/dist/stealable.hpp>
#include <plait/dist/termination.hpp>
#include <plait/dist/thief.hpp>
#include <plait/dist/transport_hold.hpp>
#include <plait/dist/worker_numbers.hpp>
#include <plait/net/thread_level.hpp>
#include <plait/net/transport.hpp>
#include <plait/task/observers.hpp>
#include <plait/wire/exception.hpp>
#include <plait/wire/framing.hpp>

#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plait {
inline namespace PLAIT_DIST {
class runtime;

namespace dist {

/// Reads the struct that a payload begins with, and steps over it.
template <class Head>
Head take_head(std::span<const std::byte>& payload) {
  Head head;
  if (payload.size() < sizeof head) throw error("plait: a message is shorter than its head: it is damaged");
  std::memcpy(&head, payload.data(), sizeof head);
  payload = payload.subspan(sizeof head);
  return head;
}

/// One rank of a job: joins its pool of workers to the transport. Submitted tasks go out and come in here, idle ranks are
/// served and others asked, and the end of a run is found.
///
/// One thread at a time holds the transport (`busy_`); it handles what has arrived and sends what was collected. Workers
/// try to get it between two jobs; if none does, the progress thread does.
class node final : public sched::outside {
 public:
  /// Collective over the transport's ranks. o: resolved.
  node(net::transport& transport, const options& o, thread_level level)
      : transport_(transport),
        options_(o),
        level_(level),
        thief_(transport),
        termination_(transport.rank(), transport.size()),
        stealing_(o.stealing != 0),
        progress_(std::chrono::duration_cast<std::chrono::nanoseconds>(
                      std::chrono::duration<double>(std::max(o.server_yieldtime, 0.00005))),
                  [this] { poll_as(nullptr); }),
        ids_(agree_on_callables(transport)),
        numbers_(transport, o.workers),
        pool_(pool::caller_works, {.workers = o.workers}),
        stealable_(pool_) {
    pool_.set_outside(this);
    pool_.set_crowded(transport_.crowded() || o.workers > base::usable_processors());
    if (any_thread_polls() && size() > 1) progress_.start();
  }

  ~node() override { progress_.stop(); }

  // ---- what tasks ask ----

  int rank() const noexcept { return transport_.rank(); }
  int size() const noexcept { return transport_.size(); }
  int num_workers() const noexcept { return numbers_.count(); }
  int first_worker() const noexcept { return numbers_.first_of(rank()); }
  plait::pool& pool() noexcept { return pool_; }
  net::transport& transport() noexcept { return transport_; }
  thread_level level() const noexcept { return level_; }
  bool stealing() const noexcept { return stealing_.load(std::memory_order_relaxed); }        // a hint; see set_stealing
  void set_stealing(bool on) noexcept { stealing_.store(on, std::memory_order_relaxed); }  // spread by messages, which order it
  /// The runtime it belongs to.
  void set_owner(runtime* r) noexcept { owner_ = r; }
  runtime& owner() const noexcept { return *owner_; }
  const run_context& spmd_context() const noexcept { return spmd_context_; }
  /// Called once on each rank before the first spmd body of the job, in the thread that runs it.
  void set_spmd_preparation(std::function<void()> f) { prepare_spmd_ = std::move(f); }

  // ---- what submit does ----

  /// Queues or sends a new task. Throws plait::error for a rank or worker that does not exist, and what packing throws.
  void place(portable* task, placement where, sched::worker& w) {
    using dist::place;
    auto [kind, index] = where;
    if (kind == place::anywhere && !stealing()) {
      kind = &*w.current == context_.root ? place::cyclic : place::here;
    }
    if (kind == place::cyclic) {
      kind = place::prefer_worker;
      // relaxed: a counter; the order of two submits does not matter
      index = static_cast<int>(cyclic_.fetch_add(1, std::memory_order_relaxed) % static_cast<unsigned>(num_workers()));
    }
    if (kind == place::anywhere || kind == place::here) return queue_here(task, kind, 0, &w);
    const bool by_rank = kind == place::prefer_rank || kind == place::on_rank;
    check_range(by_rank ? "rank" : "worker", index, by_rank ? size() : num_workers());
    const int target = by_rank ? index : numbers_.rank_of(index);
    const int local = by_rank ? -1 : index - numbers_.first_of(target);
    if (target == rank()) return queue_here(task, kind, local, &w);
    ship(task, target, kind, local);
  }

  /// Sends the result of a task to where it was submitted. `fill(writer&)` writes it; what that throws is sent instead.
  template <class Fill>
  void reply(const return_address& to, std::string_view task, Fill&& fill) noexcept {
    result_head head{to, 0, {}};
    try {
      send(to.rank, message::result, [&](wire::writer& out) {
        out.write(&head, sizeof head);
        fill(out);
      });
    } catch (...) {
      reply_failure(to, std::current_exception(), task);
    }
  }

  void reply_failure(const return_address& to, const std::exception_ptr& e, std::string_view task) noexcept {
    result_head head{to, 1, {}};
    send(to.rank, message::result, [&](wire::writer& out) {
      out.write(&head, sizeof head);
      wire::encode_exception(out, e, rank(), transport_.host_name(), task);
    });
  }

  /// The object that this rank has for `key`, made by `make()` on first use.
  void* local_object(const void* key, const std::function<std::shared_ptr<void>()>& make) {
    const std::lock_guard lock(locals_mutex_);
    auto& object = locals_[key];
    if (!object) object = make();
    return object.get();
  }

  std::uint64_t add_slot(awaiting_reply& who) { return slots_.add(who); }
  void remove_slot(std::uint64_t slot) { slots_.remove(slot); }
  std::uint32_t id_of(const wire::registry_entry& entry) const { return ids_.id_of(entry); }
  const wire::registry_entry& entry(std::uint32_t id) const { return ids_.entry(id); }

  /// Asks rank 0 to let every rank run an spmd body once. `fill(writer&)` writes its arguments.
  template <class Fill>
  void request_spmd(const return_address& to, const wire::registry_entry& callable, Fill&& fill) {
    const spmd_head head{to, 0, id_of(callable), 0};
    send(0, message::spmd_request, [&](wire::writer& out) {
      out.write(&head, sizeof head);
      fill(out);
    });
  }

  /// An spmd body has ended on this rank: the next one may start.
  void spmd_ended() {
    spmd_.ended();
    start_next_spmd();
  }

  void before_spmd_body() {
    if (prepare_spmd_) std::exchange(prepare_spmd_, nullptr)();
  }

  /// Keeps plait's own calls of MPI out while native ones are made below MPI_THREAD_MULTIPLE.
  class native_section {
   public:
    explicit native_section(node& n) noexcept : node_(n.level_ == thread_level::multiple ? nullptr : &n) {
      if (node_ != nullptr) {
        node_->hold_.acquire();
        node_->outbox_.flush(node_->transport_);  // what others need to get going is locally complete before the body
      }
    }
    ~native_section() {
      if (node_ != nullptr) node_->hold_.release();
    }
    native_section(const native_section&) = delete;
    native_section& operator=(const native_section&) = delete;

   private:
    node* node_;
  };

  // ---- a run ----

  /// Collective. Starts this rank's root task, if it has one (`start(family&, context&)` gives its unit and queues it on worker
  /// 0), and works until all tasks of all ranks have ended. The calling thread is worker 0 meanwhile.
  template <class Start>
  void work(Start&& start) {
    begin_run();
    {
      const sched::worker::thread_scope scope(pool_.at(0));
      context_.root = start(*family_, context_);
      enter();
      pool_.drive(pool_.at(0), [this] { return left_.load(std::memory_order_acquire); });  // partner: leave_now
    }
    end_run();
  }

  /// The root task of this rank has thrown; before it counts as ended.
  void root_failed(const std::exception_ptr& e) noexcept {
    std::vector<std::byte> bytes;
    try {
      wire::writer out(bytes);
      wire::encode_exception(out, e, rank(), transport_.host_name(), "the root task");
    } catch (...) {
      bytes.clear();
    }
    hold_.acquire();
    termination_.note_failure(rank(), std::move(bytes));
    hold_.release();
  }
  /// After a run: the exception of the lowest rank whose root threw.
  const termination::failure& lowest_failure() const noexcept { return termination_.lowest_failure(); }

  // ---- sched::outside ----

  bool poll(sched::worker& w) noexcept override {
    if (!may_poll(&w)) return false;
    return poll_as(&w);
  }

  bool seek(sched::worker& w) noexcept override {
    if (stealable_.move_arrivals(w)) {
      pool_.parking().notify();
      return true;
    }
    if (size() == 1 || !stealing() || !may_poll(&w) || !hold_.try_acquire()) return false;
    if (in_run_ && !termination_.closing() && thief_.wants_to_ask()) {
      const int victim = thief_.next_victim([&w] { return w.random(); },
                                            [this](int r) { send_held(r, message::lifeline, [](wire::writer&) {}); });
      if (victim >= 0) send_held(victim, message::steal, [](wire::writer&) {});
      outbox_.flush(transport_);
    }
    hold_.release();
    return false;
  }

  bool may_listen(const sched::worker& w) const noexcept override {
    return in_run_.load(std::memory_order_acquire) && may_poll(&w);  // partner: enter, end_run
  }
  std::uint64_t prepare_listen() noexcept override {
    progress_.worker_listens();
    return transport_.prepare_sleep();
  }
  void listen(std::uint64_t ticket, std::chrono::steady_clock::time_point until) noexcept override {
    auto at_most = std::chrono::nanoseconds::max();
    if (until != std::chrono::steady_clock::time_point::max()) {
      at_most = std::max(std::chrono::nanoseconds(0), std::chrono::nanoseconds(until - std::chrono::steady_clock::now()));
    }
    transport_.sleep(ticket, at_most);
    progress_.worker_rises();
  }
  void wake() noexcept override { transport_.wake(); }

  void offered(sched::worker& w) noexcept override {
    if (!someone_waits_.load(std::memory_order_relaxed) || !may_poll(&w) || !hold_.try_acquire()) return;  // a hint
    feed(1);
    outbox_.flush(transport_);
    hold_.release();
  }

 private:
  using clock = std::chrono::steady_clock;

  static constexpr std::uint64_t most_given = 64;

  // ---- start and end ----

  void begin_run() {
    if (in_run_.load(std::memory_order_relaxed)) {  // written by this thread
      throw error("plait: run was called inside a run of the same runtime; await or submit tasks instead");
    }
    ++epoch_;
    termination_.reset();
    thief_.reset();
    someone_waits_.store(false, std::memory_order_relaxed);  // before enter, which publishes all of this
    outbox_.reset_counts();
    work_received_ = control_received_ = 0;
    failure_ = nullptr;
    spmd_.reset();
    cyclic_.store(0, std::memory_order_relaxed);
    left_.store(false, std::memory_order_relaxed);
    family_ = std::make_unique<sched::family>([](sched::family*) noexcept {});
    context_ = {this, nullptr, false};
    spmd_context_ = {this, nullptr, true};
  }

  void enter() {
    hold_.acquire();
    in_run_.store(true, std::memory_order_release);  // partner: may_listen, poll_as
    auto early = std::exchange(early_, {});
    for (auto& m : early) handle(m.source, m.kind, m.epoch, m.payload);
    hold_.release();
    progress_.run_began();
  }

  void end_run() {
    progress_.run_ended();
    hold_.acquire();
    while (outbox_.flush(transport_) != 0 || transport_.sends_pending()) {
      poll_transport();
      std::this_thread::yield();
    }
    in_run_.store(false, std::memory_order_release);  // partner: poll_as
    hold_.release();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  // ---- who holds the transport ----

  bool any_thread_polls() const noexcept { return level_ >= thread_level::serialized; }
  bool may_poll(const sched::worker* w) const noexcept { return any_thread_polls() || (w != nullptr && w->index() == 0); }

  /// Sends what was collected, if the thread may and nobody else is at it; whoever is does so.
  void pump() noexcept {
    auto* w = sched::worker::of_this_thread();
    if (!may_poll(w)) return wake();
    while (outbox_.waiting() && hold_.try_acquire()) {
      if (!in_run_.load(std::memory_order_relaxed)) return hold_.release();  // under the lock
      outbox_.flush(transport_);
      hold_.release();
    }
  }

  template <class Fill>
  void send(int dest, message kind, Fill&& fill) {
    if (size() == 1) return send_to_self(kind, std::forward<Fill>(fill));
    if (outbox_.add(dest, kind, epoch_, std::forward<Fill>(fill))) pump();
  }
  /// A single rank needs no transport for what it writes to itself (spmd and its results).
  template <class Fill>
  void send_to_self(message kind, Fill&& fill) {
    early_message m{0, kind, epoch_, {}};
    {
      wire::writer out(m.payload);
      fill(out);
    }
    {
      const std::lock_guard lock(self_mutex_);
      mail_to_self_.push_back(std::move(m));
      has_mail_to_self_.store(true, std::memory_order_relaxed);  // a hint; read again under the lock
    }
    pool_.parking().notify();
  }
  bool read_own_mail() {
    std::vector<early_message> mail;
    {
      const std::lock_guard lock(self_mutex_);
      mail.swap(mail_to_self_);
      has_mail_to_self_.store(false, std::memory_order_relaxed);  // under the lock
    }
    for (auto& m : mail) dispatch(0, m.kind, m.payload);
    return !mail.empty();
  }

  /// By the holder of the transport, who flushes at the end.
  template <class Fill>
  void send_held(int dest, message kind, Fill&& fill) {
    outbox_.add(dest, kind, epoch_, std::forward<Fill>(fill));
  }
  template <class Head>
  void send_head(int dest, message kind, const Head& head) {
    send_held(dest, kind, [&head](wire::writer& out) { out.write(&head, sizeof head); });
  }

  // ---- progress ----

  /// w: the polling worker, or null for the progress thread.
  bool poll_as(sched::worker* w) noexcept {
    if (size() == 1 && !has_mail_to_self_.load(std::memory_order_relaxed)) return poll_alone();  // a hint
    if (!hold_.try_acquire()) return false;
    if (!in_run_.load(std::memory_order_relaxed)) {  // under the lock
      hold_.release();
      return false;
    }
    progress_.polled();
    poller_ = w;
    const bool something = size() == 1 ? read_own_mail() : poll_transport() != 0;
    if (thief_.anyone_waiting()) feed(w == nullptr ? 0 : 1);
    if (family_->idle()) check_end();
    outbox_.flush(transport_);
    poller_ = nullptr;
    std::vector<awaiting_reply*> done;
    if (!completed_.empty()) done.swap(completed_);
    hold_.release();
    start_next_spmd();
    for (auto* who : done) {
      if (w != nullptr) {
        who->finish(*w);
        w->current = nullptr;
      } else {
        pool_.post(&who->deliver);
      }
    }
    return something;
  }

  bool poll_alone() noexcept {
    if (!in_run_.load(std::memory_order_acquire) || left_.load(std::memory_order_relaxed) || !family_->idle()) return false;
    if (hold_.try_acquire()) {
      check_end();
      hold_.release();
    }
    return false;
  }

  int poll_transport() noexcept {
    try {
      return transport_.poll([this](int source, std::span<const std::byte> frame) {
        wire::for_each_message(frame, [&](std::uint16_t kind, std::uint32_t epoch, std::span<const std::byte> payload) {
          handle(source, static_cast<message>(kind), epoch, payload);
        });
      });
    } catch (...) {
      fail(std::current_exception());
      return 0;
    }
  }

  /// The transport or a message is broken: the run can't go on here.
  void fail(std::exception_ptr e) noexcept {
    if (!failure_) failure_ = std::move(e);
    leave_now();
  }

  void check_end() noexcept {
    if (left_.load(std::memory_order_relaxed)) return;  // written under the lock
    termination_.advance(
        family_->idle(), {outbox_.work_sent(), work_received_}, {outbox_.control_sent(), control_received_},
        [this](const wave_head& head) {
          termination_.for_children([&](int child) { send_head(child, message::wave_down, head); });
        },
        [this](const wave_head& head) {
          const auto& failure = termination_.lowest_failure();
          send_held(termination_.parent(), message::wave_up, [&](wire::writer& out) {
            out.write(&head, sizeof head);
            out.write(failure.exception.data(), failure.exception.size());
          });
        });
    if (termination_.may_leave()) {
      send_leave();
      leave_now();
    }
  }

  void send_leave() {
    const auto& failure = termination_.lowest_failure();
    const failure_head head{failure.rank, 0};
    termination_.for_children([&](int child) {
      send_held(child, message::leave, [&](wire::writer& out) {
        out.write(&head, sizeof head);
        out.write(failure.exception.data(), failure.exception.size());
      });
    });
  }

  void leave_now() noexcept {
    left_.store(true, std::memory_order_release);  // partner: work
    pool_.parking().wake(pool_.at(0).bed);
  }

  // ---- messages ----

  struct early_message {
    int source;
    message kind;
    std::uint32_t epoch;
    std::vector<std::byte> payload;
  };

  void handle(int source, message kind, std::uint32_t epoch, std::span<const std::byte> payload) {
    if (epoch != epoch_ || !in_run_.load(std::memory_order_relaxed)) {  // under the lock
      // The sender has begun the next run already.
      early_.push_back({source, kind, epoch, {payload.begin(), payload.end()}});
      return;
    }
    if (is_work(kind)) ++work_received_;
    if (is_control(kind)) ++control_received_;
    dispatch(source, kind, payload);
  }

  void dispatch(int source, message kind, std::span<const std::byte> payload) {
    switch (kind) {
      case message::task: return on_task(source, payload);
      case message::result: return on_result(payload);
      case message::spmd_request: return on_spmd_request(payload);
      case message::spmd_start: return on_spmd_start(payload);
      case message::steal: return on_steal(source);
      case message::steal_done: return thief_.answered(take_head<reply_head>(payload).count);
      case message::lifeline: return on_lifeline(source);
      case message::wave_down: return on_wave_down(payload);
      case message::wave_up: return on_wave_up(payload);
      case message::leave: return on_leave(payload);
    }
    throw error("plait: a message of unknown kind " + std::to_string(static_cast<int>(kind)) + " came from rank " +
                std::to_string(source) + ": the ranks run different versions of plait, or it is damaged");
  }

  void on_task(int source, std::span<const std::byte> payload) {
    const auto head = take_head<task_head>(payload);
    const auto& callable = ids_.entry(head.callable);
    auto* task = static_cast<const operations*>(callable.operations())->import(callable, *this, head.to, payload);
    task->self = {nullptr, family_.get(), head.in_spmd != 0 ? &spmd_context_ : &context_};
    family_->add_child();
    thief_.task_came(source);
    queue_here(task, static_cast<dist::place>(head.place), head.local_worker, poller_);
  }

  void on_result(std::span<const std::byte> payload) {
    const auto head = take_head<result_head>(payload);
    auto& who = slots_.at(head.to.slot);
    wire::reader in(payload);
    if (!who.accept(in, head)) return;
    slots_.remove(head.to.slot);
    completed_.push_back(&who);
  }

  void on_steal(int source) {
    const auto count = stealing() ? give(source, 0) : 0;
    send_head(source, message::steal_done, reply_head{static_cast<std::uint32_t>(count), 0});
  }

  void on_lifeline(int source) {
    thief_.add_waiting(source);
    someone_waits_.store(true, std::memory_order_relaxed);  // a hint for offered
    feed(1);
  }

  void on_wave_down(std::span<const std::byte> payload) {
    const auto head = take_head<wave_head>(payload);
    termination_.begin(head);
    termination_.for_children([&](int child) { send_head(child, message::wave_down, head); });
  }

  void on_wave_up(std::span<const std::byte> payload) {
    const auto head = take_head<wave_head>(payload);
    if (head.failed_rank >= 0) termination_.note_failure(head.failed_rank, {payload.begin(), payload.end()});
    termination_.answer(head);
  }

  void on_leave(std::span<const std::byte> payload) {
    const auto head = take_head<failure_head>(payload);
    if (head.rank >= 0) termination_.note_failure(head.rank, {payload.begin(), payload.end()});
    termination_.leave();
  }

  // ---- queues ----

  /// w: the calling worker, or null.
  void queue_here(portable* task, dist::place kind, int local_worker, sched::worker* w) {
    using dist::place;
    switch (kind) {
      case place::on_worker:
        return pool_.post_to(static_cast<unsigned>(local_worker), task);
      case place::prefer_worker:
        if (w == nullptr || w->index() != static_cast<unsigned>(local_worker)) {
          pool_.at(static_cast<unsigned>(local_worker)).placed.push(task);
          pool_.parking().wake(pool_.at(static_cast<unsigned>(local_worker)).bed);
          pool_.parking().notify();
          return;
        }
        [[fallthrough]];
      case place::anywhere:
      case place::cyclic:
      case place::prefer_rank:
        if (w != nullptr) {
          w->submitted.push(task);
        } else {
          stealable_.arrive(task);
        }
        pool_.parking().notify();
        if (w != nullptr && w != poller_) offered(*w);
        return;
      case place::here:
      case place::on_rank:
        return pool_.post(task);
    }
  }

  /// Packs a task and sends it away.
  void ship(portable* task, int target, dist::place kind, int local_worker) {
    if (!task->claim_to_leave()) return;
    task_head head{task->address(*this), 0, local_worker, static_cast<std::uint8_t>(kind),
                   static_cast<const run_context*>(task->self.context)->in_spmd, {}};
    bool soon = false;
    try {
      head.callable = id_of(*task->callable);
      soon = outbox_.add(target, message::task, epoch_, [&](wire::writer& out) {
        out.write(&head, sizeof head);
        task->pack(out);
      });
    } catch (...) {
      task->stays(*this);
      throw;
    }
    task->left();
    if (soon) pump();
  }

  /// Sends up to half of what others could take, oldest first, but leaves `keep`. Gives the number.
  std::uint64_t give(int thief, std::uint64_t keep) {
    const auto all = stealable_.count();
    if (all <= keep) return 0;
    const auto wanted = std::min(std::max<std::uint64_t>((all - keep + 1) / 2, 1), most_given);
    std::uint64_t given = 0;
    while (given < wanted) {
      auto* j = stealable_.take_oldest();
      if (j == nullptr) break;
      auto* task = static_cast<portable*>(j);
      try {
        ship(task, thief, place::anywhere, -1);
        ++given;
      } catch (...) {  // it can't be packed: it runs here
        pool_.post(task);
      }
    }
    return given;
  }

  /// Gives to those who wait at this end of a lifeline.
  void feed(std::uint64_t keep) {
    while (stealing() && thief_.anyone_waiting() && stealable_.count() > keep) {
      const int rank = thief_.take_waiting();
      if (give(rank, keep) == 0) {
        thief_.add_waiting(rank);
        break;
      }
    }
    someone_waits_.store(thief_.anyone_waiting(), std::memory_order_relaxed);  // a hint for offered
  }

  // ---- spmd ----

  void on_spmd_request(std::span<const std::byte> payload) {
    auto head = take_head<spmd_head>(payload);
    head.number = spmd_.next_number();
    start_spmd(head, payload);
  }

  void on_spmd_start(std::span<const std::byte> payload) {
    const auto head = take_head<spmd_head>(payload);
    start_spmd(head, payload);
  }

  /// Sends the start on down the tree and queues the body.
  void start_spmd(spmd_head head, std::span<const std::byte> arguments) {
    termination_.for_children([&](int child) {
      send_held(child, message::spmd_start, [&](wire::writer& out) {
        out.write(&head, sizeof head);
        out.write(arguments.data(), arguments.size());
      });
    });
    const auto& callable = ids_.entry(head.callable);
    auto to = head.to;
    to.part = rank();
    auto* body = static_cast<const operations*>(callable.operations())->import(callable, *this, to, arguments);
    body->self = {nullptr, family_.get(), &spmd_context_};
    family_->add_child();
    spmd_.add(head.number, body);
  }

  /// Below MPI_THREAD_MULTIPLE bodies run on worker 0, the thread that MPI belongs to.
  void start_next_spmd() {
    auto* body = spmd_.take();
    if (body == nullptr) return;
    if (level_ == thread_level::multiple) {
      pool_.post(body);
    } else {
      pool_.post_to(0, body);
    }
  }

  runtime* owner_ = nullptr;
  net::transport& transport_;
  const options options_;
  const thread_level level_;
  outbox outbox_;
  slot_table slots_;
  spmd_queue spmd_;
  std::function<void()> prepare_spmd_;
  std::mutex locals_mutex_;
  std::unordered_map<const void*, std::shared_ptr<void>> locals_;
  std::mutex self_mutex_;
  std::vector<early_message> mail_to_self_;
  std::atomic<bool> has_mail_to_self_{false};

  // Used by who has the transport.
  transport_hold hold_;
  thief thief_;
  termination termination_;
  std::uint64_t work_received_ = 0;
  std::uint64_t control_received_ = 0;
  std::vector<early_message> early_;
  std::vector<awaiting_reply*> completed_;
  sched::worker* poller_ = nullptr;
  std::exception_ptr failure_;

  // Of the present run.
  std::uint32_t epoch_ = 0;
  std::unique_ptr<sched::family> family_;  ///< counts the root and what came from other ranks; its own place is never given up
  run_context context_{this, nullptr, false};
  run_context spmd_context_{this, nullptr, true};
  std::atomic<bool> in_run_{false};
  std::atomic<bool> left_{false};
  std::atomic<bool> stealing_;
  std::atomic<bool> someone_waits_{false};
  std::atomic<unsigned> cyclic_{0};

  progress_thread progress_;
  wire::registry_ids ids_;
  worker_numbers numbers_;
  plait::pool pool_;  ///< ends before all of the above, which its threads use
  stealable stealable_;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
