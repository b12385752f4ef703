// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/future.hpp>

#include <cstddef>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace plait {

/// One of the futures given to as_completed, done.
template <class T>
struct completion {
  std::size_t index;       ///< its place in the range
  plait::future<T> future;  ///< done; take its result with co_await, get() or result()
};

/// The futures of a range in the order in which their tasks end. Move-only; one task uses it at a time.
template <class T>
class completions {
 public:
  explicit completions(std::vector<future<T>> futures) : state_(std::make_shared<state>()) {
    state_->futures = std::move(futures);
    state_->left = state_->futures.size();
    for (std::size_t i = 0; i < state_->futures.size(); ++i) {
      // The callback keeps the queue, not the futures' owner, so that dropping the range detaches what is left.
      state_->futures[i].add_done_callback([queue = state_->queue, i](const future<T>&) { queue->put(i); });
    }
  }

  class [[nodiscard("next does nothing until it is co_awaited")]] next_awaiter {
   public:
    explicit next_awaiter(completions& from) noexcept : from_(from) {}
    bool await_ready() { return from_.state_->left == 0 || from_.state_->queue->take(index_); }
    bool await_suspend(std::coroutine_handle<> h) {
      detail::prepare(waiter_, detail::worker::of_this_thread(), h);
      return from_.state_->queue->wait(&waiter_);
    }
    std::optional<completion<T>> await_resume() {
      auto& s = *from_.state_;
      if (s.left == 0) return std::nullopt;
      if (!index_) s.queue->take(index_);
      --s.left;
      auto f = std::move(s.futures[*index_]);
      // The callback runs just before the future is done to others.
      while (!f.done()) std::this_thread::yield();
      return completion<T>{*index_, std::move(f)};
    }

   private:
    completions& from_;
    std::optional<std::size_t> index_;
    detail::waiter waiter_;
  };

  /// How many have not been given yet.
  std::size_t left() const noexcept { return state_->left; }

 private:
  class ready_queue {
   public:
    void put(std::size_t index) {
      detail::waiter* w = nullptr;
      {
        const std::lock_guard lock(mutex_);
        ready_.push_back(index);
        w = std::exchange(waiter_, nullptr);
      }
      if (w != nullptr) detail::resume_later(w);
    }
    bool take(std::optional<std::size_t>& index) {
      const std::lock_guard lock(mutex_);
      if (taken_ == ready_.size()) return false;
      index = ready_[taken_++];
      return true;
    }
    /// False if there is one already.
    bool wait(detail::waiter* w) {
      const std::lock_guard lock(mutex_);
      if (taken_ != ready_.size()) return false;
      waiter_ = w;
      return true;
    }

   private:
    std::mutex mutex_;
    std::vector<std::size_t> ready_;
    std::size_t taken_ = 0;
    detail::waiter* waiter_ = nullptr;
  };

  struct state {
    std::vector<future<T>> futures;
    std::size_t left = 0;
    std::shared_ptr<ready_queue> queue = std::make_shared<ready_queue>();
  };
  std::shared_ptr<state> state_;
};

/// Takes the futures of a range. `while (auto c = co_await next(range))` then gives each once, in order of completion.
template <std::ranges::input_range R>
  requires detail::is_future<std::remove_cvref_t<std::ranges::range_reference_t<R>>>
auto as_completed(R&& futures) {
  using value = typename std::remove_cvref_t<std::ranges::range_reference_t<R>>::value_type;
  std::vector<future<value>> taken;
  for (auto& f : futures) taken.push_back(std::move(f));
  return completions<value>(std::move(taken));
}

/// The next completion, or nullopt when all have been given.
template <class T>
typename completions<T>::next_awaiter next(completions<T>& from) {
  return typename completions<T>::next_awaiter(from);
}

}  // namespace plait
