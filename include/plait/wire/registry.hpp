// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/type_name.hpp>
#include <plait/wire/digest.hpp>
#include <plait/wire/module_identity.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait::wire {

class registry_entry;

namespace detail {

// Every callable of the process, in no order. Constant-initialised, so that entries of any file may link themselves
// first.
struct registry_list {
  std::mutex mutex;
  registry_entry* first = nullptr;
  std::atomic<std::uint64_t> generation{0};
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
    const std::scoped_lock lock(detail::registry.mutex);
    next_ = detail::registry.first;
    if (next_ != nullptr) next_->previous_ = this;
    detail::registry.first = this;
    ++detail::registry.generation;
  }
  registry_entry(const registry_entry&) = delete;
  registry_entry& operator=(const registry_entry&) = delete;
  ~registry_entry() {
    const std::scoped_lock lock(detail::registry.mutex);
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
  mutable std::atomic<std::uint32_t> hint_{0};  // the id in the snapshot that was built last
};

/// Grows whenever an entry comes or goes; a snapshot taken at an equal generation is complete. Thread-safe.
inline std::uint64_t registry_generation() noexcept { return detail::registry.generation; }

namespace detail {

// True if the bracket at the beginning is closed at the very end.
inline bool is_bracketed(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return i != 0 && i + 1 == text.size();
  }
  return false;
}

}  // namespace detail

/// The readable form of an entry's full key: for typeid(tag<f>) what stands for f. Where the name alone was not unique,
/// the module follows.
inline std::string readable_key(std::string_view key) {
  const std::size_t cut = key.find('@');
  std::string name = demangle(std::string(key.substr(0, cut)).c_str());
  if (const std::size_t open = name.find('<'); open != name.npos && name.ends_with('>')) {
    std::string_view inner = std::string_view(name).substr(open + 1, name.size() - open - 2);
    while (inner.ends_with(' ')) inner.remove_suffix(1);
    if (inner.starts_with('&')) inner.remove_prefix(1);
    if (detail::is_bracketed(inner)) inner = inner.substr(1, inner.size() - 2);
    name = std::string(inner);
  }
  return cut == key.npos ? name : name + " [" + std::string(key.substr(cut + 1)) + "]";
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
    std::vector<keyed> found;
    {
      const std::scoped_lock lock(detail::registry.mutex);
      ids.generation_ = detail::registry.generation;
      for (const registry_entry* entry = detail::registry.first; entry != nullptr; entry = entry->next_) {
        found.push_back({entry->key(), entry});
      }
    }
    ids.number(std::move(found));
    return ids;
  }

  /// The id of an entry; throws plait::error if it came after the snapshot.
  std::uint32_t id_of(const registry_entry& entry) const {
    // relaxed: a guess that is checked below; it partners with the store in number()
    const std::uint32_t hint = entry.hint_.load(std::memory_order_relaxed);
    if (hint < entries_.size() && entries_[hint] == &entry) return hint;
    const auto at = std::find(entries_.begin(), entries_.end(), &entry);
    if (at == entries_.end()) {
      throw error("plait: " + entry.name() +
                  " was loaded after this run started; load modules with tasks before the run, on all ranks");
    }
    return static_cast<std::uint32_t>(at - entries_.begin());
  }

  /// The entry with an id; throws plait::error if there is none.
  const registry_entry& entry(std::uint32_t id) const {
    if (id >= entries_.size()) {
      throw error("plait: a message names callable " + std::to_string(id) + ", but this rank knows only " +
                  std::to_string(entries_.size()) + "; it is damaged, or the ranks run different builds");
    }
    return *entries_[id];
  }

  /// The number of entries; ids are below it.
  std::size_t size() const noexcept { return entries_.size(); }
  /// The registry_generation() of the snapshot.
  std::uint64_t generation() const noexcept { return generation_; }
  /// Equal on two ranks if and only if their names() are.
  const wire::digest& digest() const noexcept { return digest_; }
  /// The full keys in the order of the ids; readable_key() makes them readable.
  const std::vector<std::string>& names() const noexcept { return names_; }

 private:
  struct keyed {
    std::string_view key;
    const registry_entry* entry;
  };

  // Names that occur once are known by themselves. Others (functions of one name that are internal to two files, copies
  // in plugins) are told apart by their place in a module with a given identity, never by the order in which they were
  // found.
  void number(std::vector<keyed> found) {
    const auto by_key = [](const keyed& a, const keyed& b) { return a.key < b.key; };
    std::sort(found.begin(), found.end(), by_key);
    std::deque<std::string> full_keys;  // of repeated names; keeps the texts that found refers to
    for (auto first = found.begin(); first != found.end();) {
      const auto last = std::find_if(first, found.end(), [&](const keyed& other) { return other.key != first->key; });
      if (last - first == 1) {
        ++first;
      } else {
        for (; first != last; ++first) first->key = full_keys.emplace_back(full_key(*first->entry));
      }
    }
    if (!full_keys.empty()) std::sort(found.begin(), found.end(), by_key);
    digester sum;
    entries_.reserve(found.size());
    names_.reserve(found.size());
    for (const auto& [key, entry] : found) {
      sum.add(key);
      // relaxed: see id_of
      entry->hint_.store(static_cast<std::uint32_t>(entries_.size()), std::memory_order_relaxed);
      entries_.push_back(entry);
      names_.emplace_back(key);
    }
    digest_ = sum.result();
  }

  static std::string full_key(const registry_entry& entry) {
    const module_place place = place_in_module(&entry);
    return std::string(entry.key()) + '@' + place.identity + " + " + std::to_string(place.offset);
  }

  std::vector<const registry_entry*> entries_;
  std::vector<std::string> names_;
  wire::digest digest_;
  std::uint64_t generation_ = 0;
};

/// The text for registry_mismatch: what a rank lacks and what it has beyond the reference. Both lists as names() gives
/// them. Empty if they are equal.
inline std::string compare(std::span<const std::string> reference, std::span<const std::string> own) {
  const auto list = [](std::span<const std::string> from, std::span<const std::string> without,
                       std::string_view title) {
    std::vector<std::string> extra;
    std::set_difference(from.begin(), from.end(), without.begin(), without.end(), std::back_inserter(extra));
    std::string text;
    constexpr std::size_t most = 10;
    for (std::size_t i = 0; i < std::min(extra.size(), most); ++i)
      text += (i == 0 ? "" : ", ") + readable_key(extra[i]);
    if (extra.size() > most) text += " and " + std::to_string(extra.size() - most) + " more";
    return text.empty() ? text : std::string(title) + text;
  };
  std::string missing = list(reference, own, "missing here: ");
  const std::string surplus = list(own, reference, "known only here: ");
  if (!missing.empty() && !surplus.empty()) missing += "; ";
  return missing + surplus;
}

}  // namespace plait::wire
