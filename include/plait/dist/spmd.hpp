// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/submit.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// An spmd body on one rank.
template <class Callable>
class spmd_body final : public imported<Callable> {
 public:
  using imported<Callable>::imported;

  static visitor* import(const wire::registry_entry& entry, node& home, const return_address& to,
                         std::span<const std::byte> arguments) {
    return new spmd_body(entry, home, to, arguments);
  }

  std::coroutine_handle<> conclude(sched::worker* w) noexcept override {
    this->home_.spmd_ended();  // while this one still counts: the run, and the next one's bodies, come after
    return imported<Callable>::conclude(w);
  }
  bool claim_to_leave() noexcept override { return false; }

 private:
  void run(sched::worker& w) noexcept override {
    auto& home = this->home_;  // this ends with the body
    const bool bound = home.level() != thread_level::multiple;
    if (bound) home.enter_bound();
    w.counters.executed.add();
    this->self.started |= sched::worker::later_than_others;  // those wait for it that wait for the next ones
    w.begin(this->self);
    if (bound) w.bind(this->self);
    try {
      home.before_spmd_body();
      run_begun(static_cast<imported<Callable>&>(*this), w);
    } catch (...) {
      this->fail(std::current_exception());
      w.resume(conclude(&w));
    }
    if (bound) home.leave_bound();
  }
};

template <class Callable>
struct spmd_registration {
  static const operations table;
  static const wire::registry_entry entry;
};
template <class Callable>
const operations spmd_registration<Callable>::table{&spmd_body<Callable>::import};
template <class Callable>
const wire::registry_entry spmd_registration<Callable>::entry{typeid(typename Callable::spmd_tag).name(),
                                                              &spmd_registration<Callable>::table};

/// Gathers the results of all ranks. The waiting task has a future of the vector.
template <class R>
class gathering final : public awaiting_reply, public result_cell<std::vector<R>> {
 public:
  using cell = result_cell<std::vector<R>>;

  /// started: the caller's time.
  gathering(const wire::registry_entry& body, int parts, sched::family& parent, void* context, std::uint64_t started)
      : body_(body), parts_(static_cast<std::size_t>(parts)), self_{nullptr, &parent, context, started} {
    this->expected = parts;
    this->kind = origin::object;
    static constexpr plait::detail::cell_functions own{&plait::detail::delete_cell<gathering>,
                                                       &plait::detail::refuse_all};
    this->functions = &own;
    this->state.store(2 * state_owner | state_claimed, std::memory_order_relaxed);  // not shared yet
  }
  ~gathering() override {
    if (this->is_unobserved()) report_unobserved(std::move(this->error), "an spmd call");
    end_observers(*this);
    this->clear();
  }

  const wire::registry_entry& called() const noexcept override { return body_; }
  void accept(wire::reader& in, const result_head& head) noexcept override {
    const auto part = static_cast<std::size_t>(head.to.part);
    try {
      if (part >= parts_.size())
        throw error("plait: a result of an spmd call names rank " + std::to_string(head.to.part));
      if (head.what != ending::value) {
        auto thrown = read_failure(in, head);
        if (failed_part_ > part) {
          failure_ = std::move(thrown);
          failed_part_ = part;
        }
      } else if constexpr (!std::is_same_v<R, std::monostate>) {
        parts_[part].emplace(wire::decode<R>(in));
      } else {
        parts_[part].emplace();
      }
    } catch (...) {
      failure_ = std::current_exception();
      failed_part_ = 0;
    }
  }

  void finish(sched::worker& w) noexcept override {
    w.current = &self_;  // for its callbacks
    if (!failure_) take_parts();
    if (failure_) cell::set_error(std::move(failure_));
    auto left = self_.copy();
    bool last = false;
    auto* next = complete(*this, state_owner, last, [&] {
      self_.retire();
      left = self_.copy();
    });
    if (last) end_as(&w, left, [this] { delete this; });
    resume_joiner(sched::unit::count_end(left.children, left.parent));
    resume_later(next);
  }

 private:
  /// Makes the result of the parts, or the failure of what their moving throws.
  void take_parts() noexcept {
    try {
      std::vector<R> all;
      all.reserve(parts_.size());
      for (auto& p : parts_) all.push_back(std::move(*p));
      cell::set_value(std::move(all));
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  const wire::registry_entry& body_;
  std::vector<std::optional<R>> parts_;
  sched::unit self_;
  std::exception_ptr failure_;
  std::size_t failed_part_ = static_cast<std::size_t>(-1);
};

template <class Callable, class... A>
auto call_spmd(A&&... a) {
  static_assert(check_callable<Callable>());
  using traits = typename Callable::traits;
  using R = std::conditional_t<std::is_void_v<typename traits::result>, std::monostate, typename traits::result>;
  static_assert(converts<typename traits::arguments, A...>,
                "plait: spmd got arguments that do not convert to the function's parameters");
  const auto [w, run] = running("spmd");
  if (run->in_spmd) {
    throw error(
        "plait: spmd was called in an spmd body, or in a task that descends from one: bodies run one after another, so "
        "it "
        "would wait for itself. Call it from the task that called the outer one");
  }
  auto& parent = w->current->make_children();
  const auto now = w->time_of(*w->current);
  const auto& body = spmd_registration<Callable>::entry;
  auto* gather = new gathering<R>(body, run->home->size(), parent, w->current->context, now);
  auto f = plait::detail::make_future<std::vector<R>>(*gather);
  parent.add_child();
  const auto slot = run->home->add_slot(*gather);
  try {
    const typename traits::arguments arguments(std::forward<A>(a)...);
    const auto bytes = wire::written([&](wire::writer& out) { wire::encode(out, arguments); });
    run->home->request_spmd({slot, run->home->rank(), 0}, now, body,
                            [&bytes](wire::writer& out) { out.write(bytes.data(), bytes.size()); });
  } catch (...) {
    run->home->remove_slot(slot);
    gather->drop_owner();
    parent.child_ended(true);
    throw;
  }
  return f;
}

}  // namespace dist

/// Runs f once on every rank, at the same time on all, and gives a future of the vector of the ranks' results
/// (std::monostate for void). Calls, from any rank, run one after another in one order everywhere. Bodies may use
/// native MPI on plait::mpi::comm(). The exception of the lowest rank that threw is rethrown. Throws plait::error
/// outside of a run and inside of an spmd body.
template <auto F, class... A>
auto spmd(A&&... a) {
  return dist::call_spmd<dist::constant_callable<F>>(std::forward<A>(a)...);
}

/// The same for a lambda without captures.
template <class L, class... A>
auto spmd(L&&, A&&... a) {
  using lambda = std::remove_cvref_t<L>;
  static_assert(!dist::is_function<lambda>,
                "plait: a function is called by its name on the other ranks: spmd<f>(args...), not spmd(f, args...)");
  static_assert(dist::captureless<lambda> || dist::is_function<lambda>,
                "plait: spmd takes lambdas without captures: the captures would not travel; pass them as arguments");
  if constexpr (dist::captureless<lambda>) {
    return dist::call_spmd<dist::lambda_callable<lambda>>(std::forward<A>(a)...);
  }
}

}  // namespace PLAIT_DIST
}  // namespace plait
