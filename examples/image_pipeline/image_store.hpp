// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace pipeline {

/// The resized images of one rank, by their index in the list of files. Workers add; any thread may.
class image_store {
 public:
  /// Keeps the values of an image. Throws std::logic_error if there is one for the index already.
  void put(std::size_t index, std::vector<float> values) {
    const std::lock_guard lock(mutex_);
    if (!images_.emplace(index, std::move(values)).second) {
      throw std::logic_error("image " + std::to_string(index) + " was made twice on one rank");
    }
  }

  /// Hands all images over, and is empty then.
  std::map<std::size_t, std::vector<float>> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(images_, {});
  }

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::vector<float>> images_;
};

}  // namespace pipeline
