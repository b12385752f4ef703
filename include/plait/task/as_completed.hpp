// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/exchange.hpp>
#include <plait/base/mutex.hpp>
#include <plait/sched/suspended_list.hpp>
#include <plait/task/children.hpp>
#include <plait/task/future.hpp>

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

PLAIT_INTERFACE

namespace plait {

/// One of the futures given to as_completed, done.
template <class T>
struct completion {
  std::size_t index;        ///< its place in the range
  plait::future<T> future;  ///< done; take its result with co_await, get() or result()
};

namespace detail {

/// The places of ended tasks, in the order in which they ended. Kept by the completions and by each callback that has
/// not run, so that dropping the completions detaches what is left.
class ready_queue {
 public:
  /// capacity: for how many there is room. The first reference is the caller's.
  explicit ready_queue(std::size_t capacity) { ready_.reserve(capacity); }
  /// Makes room for so many in all.
  void grow(std::size_t capacity) {
    const std::lock_guard lock(mutex_);
    if (capacity > ready_.capacity()) ready_.reserve(2 * capacity);
  }

  void keep() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }  // by who has a reference
  void release() noexcept {
    // acq_rel: all uses happen before the end
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  void put(std::size_t index) {
    waiter* w = nullptr;
    {
      const std::lock_guard lock(mutex_);
      ready_.push_back(index);
      w = base::exchange(waiter_, nullptr);
    }
    if (w != nullptr) resume_later(w);
  }
  bool take(std::optional<std::size_t>& index) {
    const std::lock_guard lock(mutex_);
    if (taken_ == ready_.size()) return false;
    index = ready_[taken_++];
    return true;
  }
  /// Takes the waiter back. False if it has been resumed, or is about to be.
  bool withdraw(waiter* w) noexcept {
    const std::lock_guard lock(mutex_);
    if (waiter_ != w) return false;
    waiter_ = nullptr;
    return true;
  }
  /// False if there is one already.
  bool wait(waiter* w) {
    const std::lock_guard lock(mutex_);
    if (taken_ != ready_.size()) return false;
    waiter_ = w;
    return true;
  }

 private:
  base::mutex mutex_;
  std::vector<std::size_t> ready_;
  std::size_t taken_ = 0;
  waiter* waiter_ = nullptr;
  base::atomic<std::size_t> references_{1};
};

/// A reference to a ready_queue.
class ready_queue_hold {
 public:
  explicit ready_queue_hold(ready_queue* queue) noexcept : queue_(queue) {}
  ready_queue_hold(ready_queue_hold&& other) noexcept : queue_(base::exchange(other.queue_, nullptr)) {}
  ready_queue_hold& operator=(ready_queue_hold&& other) noexcept {
    std::swap(queue_, other.queue_);
    return *this;
  }
  ~ready_queue_hold() {
    if (queue_ != nullptr) queue_->release();
  }
  ready_queue_hold another() const noexcept {
    queue_->keep();
    return ready_queue_hold(queue_);
  }
  ready_queue* operator->() const noexcept { return queue_; }

 private:
  ready_queue* queue_;
};

}  // namespace detail

/// The futures of a range in the order in which their tasks end. Move-only; one task uses it at a time.
template <class T>
class completions {
 public:
  explicit completions(std::vector<future<T>> futures)
      : futures_(std::move(futures)), left_(futures_.size()), queue_(new detail::ready_queue(futures_.size())) {
    for (std::size_t i = 0; i < futures_.size(); ++i) watch(i);
  }

  /// One more future, which gets the next index.
  void add(future<T> f) {
    queue_->grow(futures_.size() + 1);
    futures_.push_back(std::move(f));
    ++left_;
    watch(futures_.size() - 1);
  }

  class [[nodiscard("next does nothing until it is co_awaited")]] next_awaiter : sched::suspended_list::node {
   public:
    using resumes_in_pool = void;
    explicit next_awaiter(completions & from) noexcept : from_(from) {}
    bool await_ready() { return from_.left_ == 0 || from_.queue_->take(index_); }
    bool await_suspend(std::coroutine_handle<> h) {
      auto* w = detail::worker::of_this_thread();
      detail::prepare(waiter_, w, h);
      if (from_.of_promises_ && w != nullptr) w->suspended.add(*this);
      return from_.queue_->wait(&waiter_);  // from here on it may be resumed
    }
    /// Throws cancelled_error if the pool ends while all that is left are promises that nobody sets.
    std::optional<completion<T>> await_resume() {
      sched::suspended_list::remove(*this);
      if (from_.left_ == 0) return std::nullopt;
      if (!index_ && !from_.queue_->take(index_)) detail::refuse_interrupted_await();
      --from_.left_;
      auto f = std::move(from_.futures_[*index_]);
      while (!f.done()) base::give_way();  // the callback runs just before the future is done to others
      return completion<T>{*index_, std::move(f)};
    }

   private:
    detail::waiter* interrupt() noexcept override {
      if (!from_.queue_->withdraw(&waiter_)) return nullptr;
      sched::suspended_list::remove_interrupted(*this);
      return &waiter_;
    }

    completions& from_;
    std::optional<std::size_t> index_;
    detail::waiter waiter_;
  };

  /// How many have not been given yet.
  std::size_t left() const noexcept { return left_; }

 private:
  void watch(std::size_t i) {
    const auto* cell = detail::cell_of_task(futures_[i]);
    of_promises_ |= cell != nullptr && cell->kind == detail::origin::promise;
    futures_[i].add_done_callback([queue = queue_.another(), i](const future<T>&) { queue->put(i); });
  }

  std::vector<future<T>> futures_;
  std::size_t left_;
  bool of_promises_ = false;
  detail::ready_queue_hold queue_;
};

/// Takes the futures of a range. `while (auto c = co_await next(range))` then gives each once, in order of completion.
template <class R>
  requires detail::is_future<detail::element_t<R>>
auto as_completed(R&& futures) {
  return completions<typename detail::element_t<R>::value_type>(detail::take_elements(futures));
}

/// For a message: tasks have not started.
template <class R>
  requires detail::is_task<detail::element_t<R>>
auto as_completed(R&&) {
  static_assert(!detail::is_task<detail::element_t<R>>,
                "plait: as_completed takes futures of tasks that have started: fork or spawn them first");
}

/// The next completion, or nullopt when all have been given.
template <class T>
typename completions<T>::next_awaiter next(completions<T>& from) {
  return typename completions<T>::next_awaiter(from);
}

}  // namespace plait
