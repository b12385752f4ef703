// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

// Quicksort in steps that can go on in parallel. It partitions without branches that depend on the data where elements
// are cheap to copy (Edelkamp and Weiss, "BlockQuicksort", ESA 2016), and keeps its time at n log n as introsort does
// (Musser 1997): pivots are medians of samples, a step that divides badly is followed by one with other samples, and
// after several of those heapsort takes over. Ranges in order, in reverse order or with few different elements take
// linear time.
//
// A comparison that throws finds all elements in the range, none of them lost: they move by swaps, or lie in a
// `lifted`, which puts them back. One that is no order leaves some permutation, and is never asked about what lies
// outside of the range.

PLAIT_INTERFACE

namespace plait::base {

/// One element taken out of its place; the hole wanders, and the element ends up where the hole is at the end.
template <class It>
struct lifted {
  explicit lifted(It from) : hole(from), element(std::move(*from)) {}
  lifted(const lifted&) = delete;
  lifted& operator=(const lifted&) = delete;
  ~lifted() { *hole = std::move(element); }
  void move_hole(It to) {
    *hole = std::move(*to);
    hole = to;
  }
  It hole;
  std::iter_value_t<It> element;
};

/// Sorts [first, last) with Compare. Its parts may be sorted by several threads.
template <class It, class Compare>
class quicksort {
  using value = std::iter_value_t<It>;
  using difference = std::iter_difference_t<It>;
  static constexpr bool cheap_to_copy = std::is_trivially_copyable_v<value> && sizeof(value) <= 16;

 public:
  explicit quicksort(Compare& less) noexcept : less_(less) {}

  /// How many bad divisions a range of this length may have.
  static int patience_for(difference length) noexcept {
    int patience = 0;
    for (; length > 1; length /= 2) ++patience;
    return patience;
  }

  /// What a step leaves to do: [first, left_end) and [right_begin, last). Nothing if it has sorted the range.
  struct step {
    It left_end;
    It right_begin;
    int patience;
    bool done;
  };

  /// Divides a range, or sorts it.
  step divide(It first, It last, int patience) {
    const auto length = last - first;
    if (length <= longest_insertion) {
      insert_all(first, last);
      return {first, last, patience, true};
    }
    choose_pivot(first, last);
    bool moved = false;
    const It pivot = partition(first, last, moved);
    const auto left = pivot - first;
    const auto right = last - (pivot + 1);
    It right_begin = pivot + 1;
    if (left < length / 8 || right < length / 8) {
      if (patience == 0) {
        heapsort(first, last);
        return {first, last, 0, true};
      }
      if (left < length / 8) right_begin = skip_equal(pivot, last);
      if (right_begin - (pivot + 1) < length / 8) {  // it was not for elements that are equal
        --patience;
        disturb(first, pivot);
        disturb(right_begin, last);
      }
    } else if (!moved && seems_sorted(first, pivot) && seems_sorted(pivot + 1, last)) {
      return {first, last, patience, true};
    }
    return {pivot, right_begin, patience, false};
  }

  void sort(It first, It last, int patience) {
    while (last - first > 1) {
      const step next = divide(first, last, patience);
      if (next.done) return;
      patience = next.patience;
      if (next.left_end - first < last - next.right_begin) {  // the stack stays at log(n)
        sort(first, next.left_end, patience);
        first = next.right_begin;
      } else {
        sort(next.right_begin, last, patience);
        last = next.left_end;
      }
    }
  }

 private:
  static constexpr difference longest_insertion = 24;
  static constexpr difference medium = 128;

  static void swap(It a, It b) { std::iter_swap(a, b); }

  void insert_all(It first, It last) {
    if (first == last) return;
    for (It i = first + 1; i != last; ++i) insert(first, i);
  }

  /// Puts the element at i where it belongs among those before it, which are in order. Says how far it moved.
  difference insert(It first, It i) {
    if (!less_(*i, *(i - 1))) return 0;
    lifted<It> one(i);
    do {
      one.move_hole(one.hole - 1);
    } while (one.hole != first && less_(one.element, *(one.hole - 1)));
    return i - one.hole;
  }

  /// Sorts by insertion, but gives up soon. Says whether the range is sorted.
  bool seems_sorted(It first, It last) {
    difference moves = 0;
    if (first == last) return true;
    for (It i = first + 1; i != last; ++i) {
      moves += insert(first, i);
      if (moves > 8) return false;
    }
    return true;
  }

  void sort_two(It a, It b) {
    if (less_(*b, *a)) swap(a, b);
  }
  void sort_three(It a, It b, It c) {
    sort_two(a, b);
    sort_two(b, c);
    sort_two(a, b);
  }

  /// Puts the pivot at first: the median of three, or of three such medians.
  void choose_pivot(It first, It last) {
    const It middle = first + (last - first) / 2;
    if (last - first > medium) {
      sort_three(first, middle, last - 1);
      sort_three(first + 1, middle - 1, last - 2);
      sort_three(first + 2, middle + 1, last - 3);
      sort_three(middle - 1, middle, middle + 1);
      swap(first, middle);
    } else {
      sort_three(middle, first, last - 1);
    }
  }

  /// Divides by the pivot at first into what is less, the pivot, and the rest. Gives where the pivot is then. `moved`:
  /// whether any pair was in the wrong order.
  It partition(It first, It last, bool& moved) {
    if constexpr (cheap_to_copy) {
      const value pivot = *first;
      return partition_by(first, last, moved, pivot);
    } else {
      return partition_by(first, last, moved, *first);  // nobody writes to it before all is compared
    }
  }

  It partition_by(It first, It last, bool& moved, const value& pivot) {
    It low = first + 1;  // all before it are less than the pivot
    It high = last;      // none from it on is
    while (low != high && less_(*low, pivot)) ++low;
    while (low != high && !less_(*(high - 1), pivot)) --high;
    moved = low != high;
    if constexpr (cheap_to_copy) {
      if (moved) low = partition_in_blocks(low, high, pivot);
    } else {
      while (low != high) {        // here *low belongs to the right and *(high - 1) to the left
        if (low == --high) break;  // one element on both sides: less is no order
        swap(low, high);
        ++low;
        while (low != high && less_(*low, pivot)) ++low;
        while (low != high && !less_(*(high - 1), pivot)) --high;
      }
    }
    const It at = low - 1;
    if (at != first) swap(first, at);
    return at;
  }

  /// Offsets of elements that are on the wrong side, in a block at either end of the range.
  struct misplaced {
    static constexpr int size = 64;
    std::uint8_t offset[size];
    int begin = 0;
    int count = 0;
  };

  It partition_in_blocks(It low, It high, const value& pivot) {
    misplaced left;
    misplaced right;
    while (high - low > 2 * misplaced::size) {
      if (left.count == 0) scan_left(left, low, misplaced::size, pivot);
      if (right.count == 0) scan_right(right, high, misplaced::size, pivot);
      exchange(left, right, low, high);
      if (left.count == 0) low += misplaced::size;
      if (right.count == 0) high -= misplaced::size;
    }
    // What is left: at most two blocks, of which one may have been scanned.
    const auto rest = static_cast<int>(high - low);
    int left_size = misplaced::size;
    int right_size = misplaced::size;
    if (left.count != 0) {
      left_size = rest < left_size ? rest : left_size;
      right_size = rest - left_size;
    } else if (right.count != 0) {
      right_size = rest < right_size ? rest : right_size;
      left_size = rest - right_size;
    } else {
      left_size = rest / 2;
      right_size = rest - left_size;
    }
    if (left.count == 0) scan_left(left, low, left_size, pivot);
    if (right.count == 0) scan_right(right, high, right_size, pivot);
    exchange(left, right, low, high);
    if (left.count == 0) low += left_size;
    if (right.count == 0) high -= right_size;
    // One block may be left with misplaced elements: they go to its inner end, the last of them first.
    if (left.count != 0) {
      while (left.count != 0) swap(low + left.offset[left.begin + --left.count], --high);
      return high;
    }
    while (right.count != 0) {
      swap(high - 1 - right.offset[right.begin + --right.count], low);
      ++low;
    }
    return low;
  }

  PLAIT_ALWAYS_INLINE void scan_left(misplaced& block, It low, int size, const value& pivot) {
    int count = 0;
    for (int i = 0; i < size; ++i) {
      block.offset[count] = static_cast<std::uint8_t>(i);
      count += static_cast<int>(!less_(low[i], pivot));
    }
    block.begin = 0;
    block.count = count;
  }
  PLAIT_ALWAYS_INLINE void scan_right(misplaced& block, It high, int size, const value& pivot) {
    int count = 0;
    for (int i = 0; i < size; ++i) {
      block.offset[count] = static_cast<std::uint8_t>(i);
      count += static_cast<int>(static_cast<bool>(less_(*(high - 1 - i), pivot)));
    }
    block.begin = 0;
    block.count = count;
  }

  /// Exchanges as many as both blocks have. Nothing throws here: the elements are trivially copyable.
  PLAIT_ALWAYS_INLINE static void exchange(misplaced& left, misplaced& right, It low, It high) {
    const int count = left.count < right.count ? left.count : right.count;
    if (count == 0) return;
    const auto* l = left.offset + left.begin;
    const auto* r = right.offset + right.begin;
    if (left.count == right.count) {  // pairs: turns a range in reverse order into one in order
      for (int i = 0; i < count; ++i) swap(low + l[i], high - 1 - r[i]);
    } else {  // a cycle through all of them takes fewer moves
      It to = low + l[0];
      It from = high - 1 - r[0];
      const value first = *to;
      *to = *from;
      for (int i = 1; i < count; ++i) {
        to = low + l[i];
        *from = *to;
        from = high - 1 - r[i];
        *to = *from;
      }
      *from = first;
    }
    left.begin += count;
    left.count -= count;
    right.begin += count;
    right.count -= count;
  }

  /// Moves elements equal to the pivot, of those right of it, to their front. Gives where the others begin.
  It skip_equal(It pivot, It last) {
    It low = pivot + 1;
    It high = last;
    for (;;) {
      while (low != high && !less_(*pivot, *low)) ++low;
      while (low != high && less_(*pivot, *(high - 1))) --high;
      if (low == high || low == --high) return low;
      swap(low, high);
      ++low;
    }
  }

  /// Exchanges some elements, so that the next samples come from elsewhere.
  static void disturb(It first, It last) {
    const auto length = last - first;
    if (length <= longest_insertion) return;
    const auto quarter = length / 4;
    for (difference i = 0; i < (length > medium ? 3 : 1); ++i) {
      swap(first + i, first + (quarter + i));
      swap(last - (1 + i), last - (quarter + i));
    }
  }

  void heapsort(It first, It last) {
    const auto length = last - first;
    for (auto i = length / 2; i > 0; --i) sift_down(first, i - 1, length);
    for (auto end = length - 1; end > 0; --end) {
      swap(first, first + end);
      sift_down(first, 0, end);
    }
  }
  void sift_down(It first, difference at, difference length) {
    lifted<It> one(first + at);
    for (;;) {
      auto child = 2 * at + 1;
      if (child >= length) return;
      if (child + 1 < length && less_(first[child], first[child + 1])) ++child;
      if (!less_(one.element, first[child])) return;
      one.move_hole(first + child);
      at = child;
    }
  }

  Compare& less_;
};

}  // namespace plait::base
