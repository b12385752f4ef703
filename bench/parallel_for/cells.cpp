// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <stdexcept>
#include <string>

void parallel_for::cells::check() const {
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (bytes_[i] != mixed(i)) throw std::runtime_error("iteration " + std::to_string(i) + " is missing or wrong");
  }
}
