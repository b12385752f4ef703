// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <source_location>
#include <type_traits>

#include "../../checker.hpp"

// Stands in for include/plait/base/atomic.hpp.

namespace interleaving {

using here = std::source_location;

inline std::memory_order failure_order(std::memory_order o) {
  if (o == std::memory_order_acq_rel) return std::memory_order_acquire;
  return o == std::memory_order_release ? std::memory_order_relaxed : o;
}

/// The operations of an atomic on a history. Derived has past() and after_change(newest).
template <class Derived, class T>
class operations {
 public:
  T load(std::memory_order order = std::memory_order_seq_cst, here where = here::current()) const {
    return self().load_here(order, where, operation::load);
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst, here where = here::current()) const {
    checker::instance().step();
    if (const auto* m = mutated(operation::store, where, order)) {
      if (m->how == mutation::kind::leave_out) return;
    }
    self().past().store(value, order);
    self().after_change(value);
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst, here where = here::current()) const {
    checker::instance().step();
    if (const auto* m = mutated(operation::exchange, where, order); m != nullptr && m->how != mutation::kind::weaken) {
      const T before = self().past().load(std::memory_order_relaxed, true);
      checker::instance().step();
      self().past().store(value, m->order_or(order));
      self().after_change(value);
      return before;
    }
    return change(order, [value](T) { return value; });
  }
  bool compare_exchange_strong(T& expected, T value, std::memory_order order, std::memory_order otherwise,
                               here where = here::current()) const {
    checker::instance().step();
    if (const auto* m = mutated(operation::compare_exchange, where, order);
        m != nullptr && m->how != mutation::kind::weaken) {  // looks, then stores
      const T before = self().past().read_newest(order);
      if (!(before == expected)) {
        expected = before;
        return false;
      }
      checker::instance().step();
      self().past().store(value, m->order_or(order));
      self().after_change(value);
      return true;
    }
    if (self().past().newest() == expected) {
      change(order, [value](T) { return value; });
      return true;
    }
    expected = self().past().read_newest(otherwise);
    return false;
  }
  bool compare_exchange_strong(T& expected, T value, std::memory_order order = std::memory_order_seq_cst,
                               here where = here::current()) const {
    return compare_exchange_strong(expected, value, order, failure_order(order), where);
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order order, std::memory_order otherwise,
                             here where = here::current()) const {
    return compare_exchange_strong(expected, value, order, otherwise, where);
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order order = std::memory_order_seq_cst,
                             here where = here::current()) const {
    return compare_exchange_strong(expected, value, order, failure_order(order), where);
  }
  T fetch_add(T n, std::memory_order order = std::memory_order_seq_cst, here where = here::current()) const {
    return add(order, where, [n](T x) { return static_cast<T>(x + n); });
  }
  T fetch_sub(T n, std::memory_order order = std::memory_order_seq_cst, here where = here::current()) const {
    return add(order, where, [n](T x) { return static_cast<T>(x - n); });
  }
  T fetch_or(T n, std::memory_order order = std::memory_order_seq_cst, here where = here::current()) const {
    return add(order, where, [n](T x) { return static_cast<T>(x | n); });
  }
  T fetch_and(T n, std::memory_order order = std::memory_order_seq_cst, here where = here::current()) const {
    return add(order, where, [n](T x) { return static_cast<T>(x & n); });
  }
  operator T() const { return load(); }  // NOLINT: as std::atomic

 protected:
  T load_here(std::memory_order order, const here& where, operation what) const {
    checker::instance().step();
    mutated(what, where, order);
    return self().past().load(order, self().may_be_stale());
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
  static const mutation* mutated(operation what, const here& where, std::memory_order& order) {
    checker::instance().note(what, where);
    const auto* m = checker::instance().mutation_of(what, where);
    if (m != nullptr && m->how == mutation::kind::weaken) order = m->order_or(std::memory_order_relaxed);
    return m;
  }
  template <class Change>
  T change(std::memory_order order, Change make) const {
    auto& past = self().past();
    const T before = past.modify(order, make);
    self().after_change(past.newest());
    return before;
  }
  template <class Change>
  T add(std::memory_order order, const here& where, Change make) const {
    checker::instance().step();
    if (const auto* m = mutated(operation::add, where, order); m != nullptr) {
      if (m->how == mutation::kind::leave_out) return self().past().read_newest(order);
      if (m->how == mutation::kind::no_exchange) {  // looks, then stores
        const T before = self().past().read_newest(order);
        checker::instance().step();
        self().past().store(make(before), m->order_or(order));
        self().after_change(make(before));
        return before;
      }
    }
    return change(order, make);
  }
};

template <class T>
class atomic : public operations<atomic<T>, T> {
 public:
  atomic() noexcept : past_(T{}) {}
  atomic(T value) noexcept : past_(value) {}  // NOLINT: as std::atomic
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  ~atomic() { alive_ = 0; }
  T operator=(T value) {  // NOLINT: as std::atomic
    this->store(value);
    return value;
  }
  T newest() const { return past().newest(); }

 private:
  friend operations<atomic<T>, T>;
  static constexpr std::uint32_t living = 0x11fe11fe;
  history<T>& past() const {
    if (alive_ != living) checker::instance().fail("an atomic is used after its end");
    return past_;
  }
  void after_change(const T&) const {}
  static constexpr bool may_be_stale() { return true; }
  mutable history<T> past_;
  volatile std::uint32_t alive_ = living;
};

/// Histories of memory that is no atomic by itself. They belong to an execution. Where the memory holds something that
/// the history does not know, it was written otherwise, and the history begins anew. Pointers always give the newest
/// value: they lie in memory that may begin a new life with a value that it had before.
template <class T>
class atomic_ref : public operations<atomic_ref<T>, T> {
 public:
  explicit atomic_ref(T& object) : object_(&object) {}

 private:
  friend operations<atomic_ref<T>, T>;
  struct known {
    std::uint64_t execution;
    history<T> past;
  };
  history<T>& past() const {
    static std::map<const T*, known> all;
    const auto execution = checker::instance().execution();
    auto found = all.find(object_);
    if (found == all.end() || found->second.execution != execution || !(found->second.past.newest() == *object_)) {
      found = all.insert_or_assign(object_, known{execution, history<T>(*object_)}).first;
    }
    return found->second.past;
  }
  void after_change(const T& newest) const { *object_ = newest; }
  static constexpr bool may_be_stale() { return !std::is_pointer_v<T>; }
  T* object_;
};

}  // namespace interleaving

namespace plait::base {
using interleaving::atomic;
using interleaving::atomic_ref;
}  // namespace plait::base
