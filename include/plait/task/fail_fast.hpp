// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/task/when_all.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

PLAIT_INTERFACE

namespace plait {

/// The first argument of when_all that ends early what is in vain.
struct fail_fast_t {
  explicit fail_fast_t() = default;
};
inline constexpr fail_fast_t fail_fast{};

namespace detail {

/// Stops all of a set of children when one of them fails. Lies in the frame of the task that joins them all.
class first_failure {
 public:
  /// Watches the futures that `for_each(fn)` calls fn with. Must not end before all of them have.
  template <class ForEach>
  void watch_all(ForEach for_each) noexcept {
    try {
      for_each([this](const auto& f) { this->add(f); });
      for_each([this](const auto& f) { this->watch(f); });
    } catch (...) {  // no memory for it
      wrong_ = std::current_exception();
      stop_all();
    }
  }
  void stop_all() noexcept {
    for (auto& c : children_) c.stop(*c.cell);
  }
  /// After all have ended: throws what the child that failed first threw, or what watch_all met.
  void rethrow() const {
    if (wrong_) std::rethrow_exception(wrong_);
    if (cause_) std::rethrow_exception(cause_);
  }

 private:
  template <class T>
  void add(const future<T>& f) {
    auto* cell = f.valid() ? cell_of_task(f) : nullptr;
    if (cell == nullptr) return;
    children_.push_back({cell, [](cell_base& c) noexcept {
                           try {
                             cancel_task(static_cast<result_cell<T>&>(c));
                           } catch (...) {  // no memory: it ends by itself
                           }
                         }});
  }
  /// After all were added.
  template <class T>
  void watch(const future<T>& f) {
    if (!f.valid()) return;
    f.add_done_callback([this](const future<T>& done) {
      auto e = done.exception();
      if (!e || failed_.exchange(true, std::memory_order_relaxed)) return;  // read when all have ended
      cause_ = std::move(e);
      stop_all();
    });
  }
  struct child_cell {
    cell_base* cell;
    void (*stop)(cell_base&) noexcept;
  };

  std::vector<child_cell> children_;
  base::atomic<bool> failed_{false};
  std::exception_ptr cause_;
  std::exception_ptr wrong_;
};

/// Starts a child; a task not, if another child has failed already.
template <class T>
task<void> start_unless(bool& failed, task<T>& t, future<T>& started) {
  if (failed) co_return;
  started = co_await fork(std::move(t));
  failed = started.done() && started.exception() != nullptr;
}
template <class T>
task<void> start_unless(bool& failed, future<T>& f, future<T>& started) {
  static_cast<void>(cell_of(f));  // throws if it is empty
  started = std::move(f);
  failed = failed || (started.done() && started.exception() != nullptr);
  co_return;
}
template <class T>
task<void> start_unless(bool& failed, shared_future<T>& f, future<T>& started) {
  auto copied = copied_from(std::move(f));
  co_await start_unless(failed, copied, started);
}

/// Suspends until the child has ended, whatever happens meanwhile: others refer to the joining frame.
template <class T>
task<void> join_stopping(const future<T>& f, first_failure& others) {
  while (f.valid() && !f.done()) {
    try {
      co_await end_of(f);
    } catch (...) {  // the pool ends
      others.stop_all();
    }
  }
}

template <class... C>
task<results::tuple<child_value_t<C>...>> start_and_join_fast(C... children) {
  std::tuple<future<child_value_t<C>>...> futures;
  bool failed = false;
  co_await [](bool& stop, std::tuple<future<child_value_t<C>>...>& f, C&... c) -> task<void> {
    co_await std::apply([&](auto&... started) -> task<void> { (co_await start_unless(stop, c, started), ...); }, f);
  }(failed, futures, children...);
  first_failure others;
  others.watch_all([&](auto use) { std::apply([&](auto&... f) { (use(f), ...); }, futures); });
  co_await [](std::tuple<future<child_value_t<C>>...>& all, first_failure& o) -> task<void> {
    co_await std::apply([&](auto&... f) -> task<void> { (co_await join_stopping(f, o), ...); }, all);
  }(futures, others);
  others.rethrow();
  co_return results::of(futures);
}

template <class C>
task<std::vector<results::element<child_value_t<C>>>> start_and_join_range_fast(std::vector<C> children) {
  std::vector<future<child_value_t<C>>> futures(children.size());
  bool failed = false;
  for (std::size_t i = 0; i < children.size(); ++i) co_await start_unless(failed, children[i], futures[i]);
  first_failure others;
  others.watch_all([&](auto use) {
    for (auto& f : futures) use(f);
  });
  for (auto& f : futures) co_await join_stopping(f, others);
  others.rethrow();
  co_return results::of(futures);
}

}  // namespace detail

/// when_all that does not go on in vain: when one of the children throws, the others are asked to stop, as by
/// future::cancel(), and tasks not yet started never are. Still all have ended before it resumes. Then it throws what
/// the one that failed first threw.
template <detail::child... C>
auto when_all(fail_fast_t, C&&... children) {
  return detail::start_and_join_fast<std::remove_cvref_t<C>...>(detail::taken(children)...);
}

/// The same for a range of tasks, of futures or of shared futures.
template <class R>
  requires detail::child<detail::element_t<R>>
auto when_all(fail_fast_t, R&& children) { return detail::start_and_join_range_fast(detail::take_elements(children)); }

}  // namespace plait
