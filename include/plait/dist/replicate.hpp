// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/box.hpp>
#include <plait/base/compose.hpp>
#include <plait/base/growing_array.hpp>
#include <plait/dist/local_objects.hpp>
#include <plait/dist/submit.hpp>
#include <plait/task/promise.hpp>
#include <plait/task/shared_future.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {

namespace dist {

/// Which constant: the rank that has it first, a number of its own, and the run that it belongs to.
struct replica_key {
  std::int32_t rank = -1;
  std::int32_t unused = 0;
  std::uint64_t number = 0;
  std::uint64_t run = 0;
  friend bool operator==(const replica_key&, const replica_key&) = default;
};

/// The constants of one rank in one run, those included that have not come yet. Thread-safe.
class replicas {
 public:
  using value = std::shared_ptr<const void>;

  /// Of the calling task's rank. Throws plait::error outside of a run.
  static replicas& here() {
    auto& objects = dist::running("replicate").second->home->objects();
    const auto make = [] {
      return any_object{new replicas, [](void* r) noexcept { delete static_cast<replicas*>(r); }};
    };
    return *static_cast<replicas*>(objects.get(local_objects::of_run, make));
  }

  void put(const replica_key& key, value v) { of(key).arrived.set_value(std::move(v)); }
  void put_failure(const replica_key& key, std::exception_ptr e) { of(key).arrived.set_exception(std::move(e)); }
  /// Done once it has come.
  shared_future<value> get(const replica_key& key) { return of(key).ready; }

 private:
  struct entry {
    explicit entry(const replica_key& k) : key(k), ready(arrived.get_future().share()) {}
    const replica_key key;
    promise<value> arrived;
    shared_future<value> ready;
  };
  entry& of(const replica_key& key) {
    const std::lock_guard lock(mutex_);
    for (auto i = entries_.size(); i > 0; --i) {
      if (entries_[i - 1]->key == key) return *entries_[i - 1];
    }
    entries_.push_back(base::box<entry>(new entry(key)));
    return *entries_.back();
  }

  std::mutex mutex_;
  base::growing_array<base::box<entry>> entries_;
};

using encoded = std::shared_ptr<std::vector<std::byte>>;

template <class T>
void receive_replica(replica_key key, encoded bytes);

/// Sends a constant to the ranks below this one in a binary tree whose root is its first rank.
template <class T>
void pass_replica_on(const replica_key& key, const encoded& bytes) {
  const auto& home = *running("replicate").second->home;
  const int size = home.size();
  const int place = (home.rank() - key.rank + size) % size;
  for (int below = 2 * place + 1; below <= 2 * place + 2 && below < size; ++below) {
    static_cast<void>(submit<&receive_replica<T>>(on_rank((below + key.rank) % size), key, bytes));
  }
}

/// A constant has come.
template <class T>
void receive_replica(replica_key key, encoded bytes) {
  std::exception_ptr not_passed_on;
  try {
    pass_replica_on<T>(key, bytes);  // first: it may take this rank long to read
  } catch (...) {
    not_passed_on = std::current_exception();
  }
  auto& all = replicas::here();
  try {
    wire::reader in(*bytes);
    all.put(key, std::make_shared<const T>(wire::decode<T>(in)));
  } catch (...) {
    all.put_failure(key, std::current_exception());
  }
  if (not_passed_on) std::rethrow_exception(not_passed_on);  // nobody else can tell that ranks below wait for it
}

}  // namespace dist

/// A constant that all ranks have: made by replicate(). A small value that tasks take by copy; it lasts until the end
/// of the run.
template <class T>
class replicated {
 public:
  /// None; not to be used.
  replicated() noexcept = default;

  /// This rank's copy. A task that is faster than the constant waits for it, as in future::get(): coroutines may
  /// `co_await` it first. Throws plait::error outside of its run, and what reading the constant on this rank threw.
  const T& operator*() const { return as_value(here().get()); }
  const T* operator->() const { return &**this; }
  const T& get() const { return **this; }

  /// Suspends the task until the constant is here, and gives it.
  task<const T&> when_here() const {
    const auto arrives = here();
    co_return as_value(co_await arrives);
  }
  auto operator co_await() const { return when_here().operator co_await(); }

 private:
  template <class U>
  friend replicated<std::decay_t<U>> replicate(U&& value);
  explicit replicated(const dist::replica_key& key) noexcept : key_(key) {}

  static const T& as_value(const dist::replicas::value& v) noexcept { return *static_cast<const T*>(v.get()); }
  shared_future<dist::replicas::value> here() const {
    auto& home = *dist::running("replicated").second->home;
    if (key_.rank < 0 || key_.run != home.objects().runs()) {
      throw error(
          key_.rank < 0
              ? "plait: an empty replicated<T> was used"
              : "plait: a replicated<T> was used after the run in which it was made: its constant ended with it");
    }
    return dist::replicas::here().get(key_);
  }

  dist::replica_key key_;
};

/// Sends a constant from this rank to all others, once to each, down a tree, and gives what tasks take in its place:
/// a small handle, however large the constant is. `submit<f>(replicate(table))` calls `f(const
/// replicated<table_type>&)`. It is there at once on this rank, and on the others before long. Kept until the run ends.
/// Throws plait::error outside of a run, and what serialising the value throws.
template <class U>
replicated<std::decay_t<U>> replicate(U&& value) {
  using T = std::decay_t<U>;
  check_transferable<T>();
  auto& home = *dist::running("replicate").second->home;
  const dist::replica_key key{home.rank(), 0, dist::local_objects::new_variable(), home.objects().runs()};
  auto own = std::make_shared<const T>(std::forward<U>(value));
  if (home.size() > 1) {
    auto bytes = wire::written([&own](wire::writer& out) { wire::encode(out, *own); });
    dist::pass_replica_on<T>(key, std::make_shared<std::vector<std::byte>>(std::move(bytes)));
  }
  dist::replicas::here().put(key, std::move(own));
  return replicated<T>(key);
}

}  // namespace PLAIT_DIST
}  // namespace plait
