// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/compose.hpp>
#include <plait/base/config.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/growing_array.hpp>
#include <plait/base/type_name.hpp>
#include <plait/wire/digest.hpp>
#include <plait/wire/module_identity.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

PLAIT_INTERFACE

namespace plait::wire {

class registry_entry;

namespace detail {

// Every callable of the process, in no order. Constant-initialised, so that entries of any file may link themselves
// first.
struct registry_list {
  std::mutex mutex;
  registry_entry* first = nullptr;
  base::atomic<std::uint64_t> generation{0};
};
PLAIT_EXPORT inline constinit registry_list registry;

}  // namespace detail

/// A callable that can be started from other ranks. Has static storage; links itself into the process's list when it is
/// initialised, and unlinks when its module is closed. An instance as static member of a template is made only if the
/// program names it. Thread-safe.
class registry_entry {
 public:
  /// key: the mangled name of a type made from the callable, with static storage. operations: what the layer above
  /// knows about the callable.
  registry_entry(const char* key, const void* operations) noexcept : key_(key), operations_(operations) {
    const std::lock_guard lock(detail::registry.mutex);
    next_ = detail::registry.first;
    if (next_ != nullptr) next_->previous_ = this;
    detail::registry.first = this;
    ++detail::registry.generation;
  }
  registry_entry(const registry_entry&) = delete;
  registry_entry& operator=(const registry_entry&) = delete;
  ~registry_entry() {
    const std::lock_guard lock(detail::registry.mutex);
    (previous_ != nullptr ? previous_->next_ : detail::registry.first) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
    ++detail::registry.generation;
  }

  /// The mangled name given at construction.
  const char* key() const noexcept { return key_; }
  /// What the layer above stored.
  const void* operations() const noexcept { return operations_; }
  /// The callable's readable name, "simulate(params const&)".
  std::string name() const;

 private:
  friend class registry_ids;

  const char* key_;
  const void* operations_;
  registry_entry* next_ = nullptr;
  registry_entry* previous_ = nullptr;
  mutable base::atomic<std::uint32_t> hint_{0};  // the id in the snapshot that was built last
};

/// Grows whenever an entry comes or goes; a snapshot taken at an equal generation is complete. Thread-safe.
inline std::uint64_t registry_generation() noexcept { return detail::registry.generation; }

namespace detail {

// The first of several template arguments, without a bracket around it. What demanglers print for a function is
// f for one in a namespace, (f(int)) for others, (int f<int>(int)) for templates.
inline std::string_view first_argument(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' || text[i] == '<' ? 1 : text[i] == ')' || text[i] == '>' ? -1 : 0;
    if (depth == 0 && text[i] == ',') text = text.substr(0, i);
  }
  depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return i != 0 && i + 1 == text.size() ? text.substr(1, i - 1) : text;
  }
  return text;
}

}  // namespace detail

/// The readable form of an entry's full key: for typeid(tag<f>) and typeid(tag<f, ...>) what stands for f. Where the
/// name alone was not unique, the module follows.
inline std::string readable_key(std::string_view key) {
  const std::size_t cut = key.find('@');
  const std::string full = demangle(std::string(key.substr(0, cut)).c_str());
  std::string_view name = full;
  if (const std::size_t open = name.find('<'); open != name.npos && name.back() == '>') {
    name = name.substr(open + 1, name.size() - open - 2);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    if (!name.empty() && name.front() == '&') name.remove_prefix(1);
    name = detail::first_argument(name);
  }
  return cut == key.npos ? std::string(name) : base::compose({name, " [", key.substr(cut + 1), "]"});
}

inline std::string registry_entry::name() const { return readable_key(key_); }

/// The entries of one moment with dense ids, the same on each rank that has the same callables. Entries must not go
/// away (dlclose) while it is used. Const members are thread-safe.
class registry_ids {
 public:
  /// No entries.
  registry_ids() = default;

  /// The callables that the process has now.
  static registry_ids snapshot() {
    registry_ids ids;
    {
      const std::lock_guard lock(detail::registry.mutex);
      ids.generation_ = detail::registry.generation;
      for (const registry_entry* entry = detail::registry.first; entry != nullptr; entry = entry->next_) {
        ids.entries_.push_back({entry->key(), entry});
      }
    }
    ids.number();
    return ids;
  }

  /// The id of an entry; throws plait::error if it came after the snapshot.
  std::uint32_t id_of(const registry_entry& entry) const {
    // relaxed: a guess that is checked below; it partners with the store in number()
    const std::uint32_t hint = entry.hint_.load(std::memory_order_relaxed);
    if (hint < entries_.size() && entries_[hint].entry == &entry) return hint;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].entry == &entry) return static_cast<std::uint32_t>(i);
    }
    throw error(
        base::compose({"plait: ", entry.name(),
                       " was loaded after this run started; load modules with tasks before the run, on all ranks"}));
  }

  /// The entry with an id; throws plait::error if there is none.
  const registry_entry& entry(std::uint32_t id) const {
    if (id >= entries_.size()) {
      throw error(base::compose({"plait: a message names callable ", id, ", but this rank knows only ", entries_.size(),
                                 "; it is damaged, or the ranks run different builds"}));
    }
    return *entries_[id].entry;
  }

  /// The number of entries; ids are below it.
  std::size_t size() const noexcept { return entries_.size(); }
  /// The registry_generation() of the snapshot.
  std::uint64_t generation() const noexcept { return generation_; }
  /// Equal on two ranks if and only if their names() are.
  const wire::digest& digest() const noexcept { return digest_; }
  /// The full key of an id; readable_key() makes it readable.
  std::string_view key(std::uint32_t id) const noexcept { return entries_[id].key; }
  /// The full keys in the order of the ids, a line each.
  std::string keys() const {
    std::string all;
    for (const auto& e : entries_) {
      all.append(e.key.data(), e.key.size());
      all.append("\n", 1);
    }
    return all;
  }

 private:
  struct keyed {
    std::string_view key;
    const registry_entry* entry;
    /// For qsort.
    static int compare(const void* a, const void* b) noexcept {
      return static_cast<const keyed*>(a)->key.compare(static_cast<const keyed*>(b)->key);
    }
  };

  // Names that occur once are known by themselves. Others (functions of one name that are internal to two files, copies
  // in plugins) are told apart by their place in a module with a given identity, never by the order in which they were
  // found.
  void number() {
    sort();
    for (std::size_t first = 0, last = 0; first < entries_.size(); first = last) {
      while (last < entries_.size() && entries_[last].key == entries_[first].key) ++last;
      if (last - first > 1) add_places(first, last);
    }
    if (!full_keys_.empty()) sort();
    digester sum;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      sum.add(entries_[i].key);
      // relaxed: see id_of
      entries_[i].entry->hint_.store(static_cast<std::uint32_t>(i), std::memory_order_relaxed);
    }
    digest_ = sum.result();
  }

  void sort() { std::qsort(entries_.begin(), entries_.size(), sizeof(keyed), &keyed::compare); }

  void add_places(std::size_t first, std::size_t last) {
    base::growing_array<std::string> keys;
    for (std::size_t i = first; i < last; ++i) {
      const module_place place = place_in_module(entries_[i].entry);
      keys.push_back(base::compose({entries_[i].entry->key(), "@", place.identity, " + ", place.offset}));
    }
    for (std::size_t i = first; i < last; ++i) entries_[i].key = keys[i - first];
    full_keys_.push_back(std::move(keys));  // the texts stay where they are
  }

  base::growing_array<keyed> entries_;
  base::growing_array<base::growing_array<std::string>> full_keys_;  // of names that occur more than once
  wire::digest digest_;
  std::uint64_t generation_ = 0;
};

namespace detail {

// Takes the first line off a text.
inline std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const auto line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return line;
}

// The lines that only one of two lists has, as a text that begins with a title; not all if there are many.
class difference {
 public:
  explicit difference(const char* title) : text_(title) {}
  void add(std::string_view key) {
    ++count_;
    if (count_ <= most) text_ += base::compose({count_ == 1 ? "" : ", ", readable_key(key)});
  }
  std::string text() const {
    if (count_ == 0) return {};
    return count_ <= most ? text_ : base::compose({text_, " and ", count_ - most, " more"});
  }

 private:
  static constexpr std::size_t most = 10;
  std::string text_;
  std::size_t count_ = 0;
};

}  // namespace detail

/// The text for registry_mismatch: what a rank lacks and what it has beyond the reference. Both lists as keys() gives
/// them, sorted. Empty if they are equal.
inline std::string compare(std::string_view reference, std::string_view own) {
  detail::difference missing("missing here: ");
  detail::difference surplus("known only here: ");
  while (!reference.empty() || !own.empty()) {
    auto after_reference = reference;
    auto after_own = own;
    const auto expected = detail::take_line(after_reference);
    const auto found = detail::take_line(after_own);
    const int order = reference.empty() ? 1 : own.empty() ? -1 : expected.compare(found);
    if (order < 0) missing.add(expected);
    if (order > 0) surplus.add(found);
    if (order <= 0) reference = after_reference;
    if (order >= 0) own = after_own;
  }
  const auto lacks = missing.text();
  const auto extra = surplus.text();
  return base::compose({lacks, lacks.empty() || extra.empty() ? "" : "; ", extra});
}

}  // namespace plait::wire
