// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/callable.hpp>
#include <plait/dist/node.hpp>
#include <plait/dist/whereabouts.hpp>
#include <plait/task/future.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// A submitted task on the rank that submitted it, typed until it leaves; and on a rank that got it, as bytes until it
// runs.

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// The registry entry of a callable; naming it registers the callable in every program that contains the code.
template <class Callable>
struct registration {
  static const operations table;
  static const wire::registry_entry entry;
};

/// Calls with the arguments moved in.
template <class Callable>
decltype(auto) call_with(typename Callable::traits::arguments& arguments) {
  return std::apply([](auto&... a) -> decltype(auto) { return Callable::call(std::move(a)...); }, arguments);
}

template <class Callable>
class submitted final : public base::in_frame_memory,
                        public portable,
                        public awaiting_reply,
                        public result_cell<typename Callable::traits::result> {
 public:
  using traits = typename Callable::traits;
  using result = typename traits::result;
  using cell = result_cell<result>;
  static constexpr bool gives_nothing = std::is_void_v<result>;
  static constexpr bool is_coroutine = traits::is_coroutine;

  template <class... A>
  submitted(sched::family& parent, void* context, A&&... a)
      : portable(&execute_if_unclaimed, registration<Callable>::entry),
        arguments_(std::in_place, std::forward<A>(a)...) {
    this->self = {nullptr, &parent, context, 0};
    this->kind = origin::object;
    static constexpr plait::detail::cell_functions own{
        &plait::detail::delete_cell<submitted>, &control, [](const cell_base* c) noexcept -> const sched::unit* {
          return &static_cast<const submitted*>(static_cast<const cell*>(c))->self;
        }};
    this->functions = &own;
    this->state.store(2 * state_owner,
                      std::memory_order_relaxed);  // published by the queue: the future's hold, and ours
  }
  ~submitted() override {
    if (this->is_unobserved()) report_unobserved(std::move(this->error), name());
    end_observers(*this);
    this->clear();
  }

  decltype(auto) call() { return call_with<Callable>(*arguments_); }
  void succeed() { cell::set_value(); }
  template <class V>
  void succeed(V&& v) {
    cell::set_value(std::forward<V>(v));
  }
  void fail(std::exception_ptr e) noexcept {
    if (this->ended == outcome::none) cell::set_error(std::move(e));
  }

  /// The task has ended, here or elsewhere: tells who waits. Gives what the worker goes on with.
  std::coroutine_handle<> conclude(sched::worker* w) noexcept {
    this->tell_end(w);
    arguments_.reset();
    return resume_next(end(w), w);
  }

  // ---- leaving ----

  bool claim_to_leave() noexcept override {
    if (this->claim()) return true;
    this->drop_owner();
    return false;
  }
  /// Takes a hold until left or stays: its result may be back before the sender is through with it.
  return_address address(node& home) override {
    slot_ = home.add_slot(*this);
    this->state.fetch_add(state_owner, std::memory_order_relaxed);  // beside the hold of the queue that gave it
    return {slot_, home.rank(), 0};
  }
  void pack(wire::writer& out) override { wire::encode(out, *arguments_); }
  bool packs_by_user_code() const noexcept override { return wire::format<typename traits::arguments>::uses_archive; }
  void left(int rank) noexcept override {
    arguments_.reset();
    if (where_.moved(rank, this->moves + 1)) stop_at(rank);
    this->drop_owner();
  }
  bool moved(int rank, std::uint32_t times) noexcept override { return where_.moved(rank, times); }
  void stays(node& home) noexcept override {
    home.remove_slot(slot_);
    this->drop_owner();
    this->execute = &execute_claimed;
  }

  const wire::registry_entry& called() const noexcept override { return *this->callable; }
  void accept(wire::reader& in, const result_head& head) noexcept override {
    try {
      if (head.what != ending::value) {
        fail(read_failure(in, head));
      } else if constexpr (gives_nothing) {
        succeed();
      } else {
        succeed(wire::decode<result>(in));
      }
    } catch (...) {
      fail(std::current_exception());
    }
  }
  void finish(sched::worker& w) noexcept override {
    if (auto* by = w.watched()) [[unlikely]]
      by->arrived(flow_of({slot_, static_cast<run_context*>(this->self.context)->home->rank(), 0}));
    w.current = &this->self;  // the arguments are the sender's to end, which may be at it: see left
    w.resume(resume_next(end(&w), &w));
  }

  static std::string name() { return registration<Callable>::entry.name(); }

 private:
  /// Makes it done; gives the waiter to resume, or null.
  waiter* end(sched::worker* w) noexcept {
    auto left = this->self.copy();
    bool last = false;
    auto* next = complete(*this, state_owner, last, [&] {
      this->self.retire();
      left = this->self.copy();  // its callbacks may have children
    });
    if (last) end_as(w, left, [this] { delete this; });
    resume_joiner(sched::unit::count_end(left.children, left.parent));
    return next;
  }

  /// Whether the calling worker may run it: one of the run's rank, since a task may wait in another pool, where it is a
  /// guest; and the one that it was submitted to, if to a single one.
  bool runs_here() const noexcept {
    const auto& w = *sched::worker::of_this_thread();
    if (&w.home() != &static_cast<const run_context*>(this->self.context)->home->pool()) return false;
    return this->only_worker < 0 || static_cast<unsigned>(this->only_worker) == w.index();
  }

  /// A request to stop, wherever it is.
  bool stop() {
    if (!plait::detail::stop_running(*this, this->self)) return false;
    if (const int rank = where_.want_stop(); rank >= 0) stop_at(rank);
    return true;
  }
  /// Tells a rank that has got it.
  void stop_at(int rank) noexcept {
    auto& home = *static_cast<run_context*>(this->self.context)->home;
    const return_address to{slot_, home.rank(), 0};
    if (rank == home.rank()) return home.stops().here().stop(to, home.answers());
    if (!plait::detail::hold_open(*this)) return;
    home.stops().send(rank, to);  // before the task counts as ended, and so before the end of the run
    plait::detail::let_go(*this);
  }

  static submitted& of(sched::job* j) noexcept { return static_cast<submitted&>(static_cast<portable&>(*j)); }

  static void execute_if_unclaimed(sched::job* j, sched::worker& w) noexcept {
    auto& task = of(j);
    if (task.claim()) {
      run_here(task, w);
    } else {
      task.drop_owner();
    }
  }
  static void execute_claimed(sched::job* j, sched::worker& w) noexcept { run_here(of(j), w); }

  static bool control(cell_base* c, request what) noexcept {
    auto& task = *static_cast<submitted*>(static_cast<cell*>(c));
    if (what == request::stop) return task.stop();
    if (what == request::run && !task.runs_here()) return false;
    task.state.fetch_add(state_owner, std::memory_order_relaxed);  // the run's hold; the caller has one
    if (!task.claim()) {
      task.drop_owner();
      return false;
    }
    if (what == request::run) {
      run_here(task, *sched::worker::of_this_thread());
    } else {
      task.set_cancelled();
      task.arguments_.reset();
      resume_later(task.end(nullptr));
    }
    return true;
  }

  std::optional<typename traits::arguments> arguments_;
  std::uint64_t slot_ = 0;
  whereabouts where_;
};

/// A task that came from another rank.
template <class Callable>
class imported : public base::in_frame_memory, public visitor {
 public:
  using traits = typename Callable::traits;
  using result = typename traits::result;
  static constexpr bool gives_nothing = std::is_void_v<result>;
  static constexpr bool is_coroutine = traits::is_coroutine;

  static visitor* import(const wire::registry_entry& entry, node& home, const return_address& to,
                         std::span<const std::byte> arguments) {
    return new imported(entry, home, to, arguments);
  }

  imported(const wire::registry_entry& entry, node& home, const return_address& to,
           std::span<const std::byte> arguments)
      : visitor(
            [](sched::job* j, sched::worker& w) noexcept {
              auto& task = *static_cast<imported*>(static_cast<portable*>(j));
              task.give_credit_back();
              if (task.start()) task.run(w);
            },
            entry, to),
        home_(home),
        bytes_(arguments.begin(), arguments.end()) {}

  decltype(auto) call() {
    wire::reader in(bytes_);
    arguments_.emplace(wire::decode<typename traits::arguments>(in));
    return call_with<Callable>(*arguments_);
  }
  void succeed() noexcept {
    home_.answers().send(this->to_, *this->callable, [](wire::writer&) {});
  }
  template <class V>
  void succeed(V&& v) noexcept {
    if constexpr (wire::format<result>::uses_archive) {  // calls functions of the program's: not under a lock
      std::vector<std::byte> bytes;
      try {
        bytes = wire::written([&v](wire::writer& out) { wire::encode<result>(out, v); });
      } catch (...) {
        return fail(std::current_exception());
      }
      home_.answers().send(this->to_, *this->callable,
                           [&bytes](wire::writer& out) { out.write(bytes.data(), bytes.size()); });
    } else {
      home_.answers().send(this->to_, *this->callable, [&v](wire::writer& out) { wire::encode<result>(out, v); });
    }
  }
  void fail(const std::exception_ptr& e) noexcept { home_.answers().send_failure(this->to_, e, *this->callable); }

  virtual std::coroutine_handle<> conclude(sched::worker* w) noexcept {
    this->tell_end(w);
    home_.stops().here().remove(*this);
    this->self.retire();
    auto* own = this->self.known_children();
    auto* parent = this->self.parent;
    delete this;
    resume_joiner(sched::unit::count_end(own, parent));
    return std::noop_coroutine();
  }

  bool claim_to_leave() noexcept override {
    give_credit_back();
    if (!this->start_leaving()) return false;
    home_.stops().here().remove(*this);
    return true;
  }
  return_address address(node&) override { return this->to_; }
  void pack(wire::writer& out) override { out.write(bytes_.data(), bytes_.size()); }
  void left(int) noexcept override {
    auto* parent = this->self.parent;
    delete this;
    parent->child_ended(true);
  }
  void stays(node&) noexcept override {
    home_.stops().here().add(*this, false);
    this->come_back();
  }

 protected:
  virtual void run(sched::worker& w) noexcept {
    w.counters.imported.add();
    run_here(*this, w);
  }

  node& home_;

 private:
  /// By who takes it out of its queue.
  void give_credit_back() noexcept {
    if (const int rank = std::exchange(this->creditor, -1); rank >= 0)
      home_.credits().give_back(rank, credit::cost(sizeof(task_head) + bytes_.size()));
  }

  std::vector<std::byte> bytes_;
  std::optional<typename traits::arguments> arguments_;
};

template <class Callable>
const operations registration<Callable>::table{&imported<Callable>::import};
template <class Callable>
const wire::registry_entry registration<Callable>::entry{typeid(typename Callable::tag).name(),
                                                         &registration<Callable>::table};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
