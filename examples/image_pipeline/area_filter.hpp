// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace pipeline {

inline constexpr std::size_t channels = 3;  ///< red, green, blue

/// Resizes an RGB image to a square by averaging over areas, while its rows arrive.
///
/// An output pixel is the mean of the source over the pixel's own rectangle, where a source pixel is a square of
/// constant colour: pixels that the rectangle's edge cuts count with the fraction that lies inside. (OpenCV calls this
/// INTER_AREA for shrinking, Pillow BOX.) Enlarging follows the same definition. With lengths measured in 1/size of a
/// source pixel all fractions are whole numbers, so the sums are exact and the order of additions does not matter.
class area_filter {
 public:
  /// width, height: of the source, 1 to 65535; size: edge of the result. Throws std::invalid_argument.
  area_filter(std::size_t width, std::size_t height, std::size_t size)
      : width_(width), height_(height), size_(size), columns_(size), row_(size * channels), sums_(size * channels) {
    if (width < 1 || height < 1 || size < 1 || width > 65535 || height > 65535 || size > 65535) {
      throw std::invalid_argument("area_filter: width, height and size must lie between 1 and 65535");
    }
    for (std::size_t i = 0; i < size; ++i) {
      column& c = columns_[i];
      c.first = i * width / size;
      c.last = ((i + 1) * width - 1) / size;
      c.first_weight = static_cast<std::uint32_t>(std::min((c.first + 1) * size, (i + 1) * width) - i * width);
      c.last_weight = c.last == c.first ? 0 : static_cast<std::uint32_t>((i + 1) * width - c.last * size);
    }
  }

  /// Adds the next source row of 3 * width bytes. For each row of the result that is complete now it calls
  /// emit(row, sums): 3 * size sums, to be divided by weight().
  template <class Emit>
  void add_row(std::span<const std::uint8_t> source, Emit&& emit) {
    if (source.size() != width_ * channels || next_source_ == height_) {
      throw std::invalid_argument("area_filter: a row of another image");
    }
    reduce_row(source.data());
    std::size_t begin = next_source_++ * size_;
    const std::size_t end = begin + size_;
    while (begin < end) {
      const std::size_t target_end = (next_target_ + 1) * height_;
      const std::size_t stop = std::min(end, target_end);
      for (std::size_t i = 0; i < row_.size(); ++i) sums_[i] += std::uint64_t{row_[i]} * (stop - begin);
      begin = stop;
      if (begin == target_end) {
        emit(next_target_++, std::span<const std::uint64_t>(sums_));
        std::fill(sums_.begin(), sums_.end(), 0);
      }
    }
  }

  /// By what the sums must be divided to give the mean: width * height of the source.
  double weight() const noexcept { return static_cast<double>(width_) * static_cast<double>(height_); }

 private:
  struct column {
    std::size_t first;  // first and last source pixel that the column touches
    std::size_t last;
    std::uint32_t first_weight;  // pixels between them weigh `size_`; all weights of a column sum up to `width_`
    std::uint32_t last_weight;
  };

  void reduce_row(const std::uint8_t* source) {
    for (std::size_t i = 0; i < size_; ++i) {
      const column& c = columns_[i];
      const std::uint8_t* first = source + c.first * channels;
      const std::uint8_t* last = source + c.last * channels;
      std::array<std::uint32_t, channels> between = {0, 0, 0};
      for (const std::uint8_t* pixel = first + channels; pixel < last; pixel += channels) {
        for (std::size_t k = 0; k < channels; ++k) between[k] += pixel[k];
      }
      for (std::size_t k = 0; k < channels; ++k) {
        row_[i * channels + k] =
            first[k] * c.first_weight + between[k] * static_cast<std::uint32_t>(size_) + last[k] * c.last_weight;
      }
    }
  }

  std::size_t width_;
  std::size_t height_;
  std::size_t size_;
  std::size_t next_source_ = 0;
  std::size_t next_target_ = 0;
  std::vector<column> columns_;
  std::vector<std::uint32_t> row_;   // at most 255 * width
  std::vector<std::uint64_t> sums_;  // at most 255 * width * height
};

}  // namespace pipeline
