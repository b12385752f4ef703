// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../support/contest.hpp"

#include <array>
#include <stdexcept>

/// All ways to place n queens, a task for each queen that can be placed: short loops between tasks, and a number of
/// children that is not known before.
namespace nqueens {

double run_serial(int n, int workers);
double run_plait(int n, int workers);
double run_onetbb(int n, int workers);
double run_openmp(int n, int workers);

inline constexpr int most = 16;

/// The queens of the first rows.
struct board {
  std::array<signed char, most> column;
  int rows = 0;
  int size = 0;

  explicit board(int n) : column{}, size(n) {}

  bool full() const { return rows == size; }
  /// Whether a queen may stand there in the next row.
  bool is_free(int c) const {
    for (int row = 0; row < rows; ++row) {
      const int distance = column[static_cast<std::size_t>(row)] - c;
      if (distance == 0 || distance == rows - row || distance == row - rows) return false;
    }
    return true;
  }
  board with(int c) const {
    board next = *this;
    next.column[static_cast<std::size_t>(next.rows++)] = static_cast<signed char>(c);
    return next;
  }
};

/// The number of ways.
inline long answer(int n) {
  constexpr std::array<long, most + 1> known = {1,   1,   0,    0,     2,     10,     4,       40,      92,
                                                352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};
  if (n > most) throw std::runtime_error("n is at most 16");
  return known[static_cast<std::size_t>(n)];
}

}  // namespace nqueens
