// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <jpeglib.h>

#include "area_filter.hpp"

namespace pipeline {

/// A page with a grid of small square images, written as a JPEG.
class contact_sheet {
 public:
  /// Edge of the pictures for resized images of edge `size`.
  static std::size_t cell_size(std::size_t size) { return std::min<std::size_t>(size, 224); }

  /// Whether image `index` of `count` is shown: all up to 400, else 400 at even distances.
  static bool shows(std::size_t index, std::size_t count) {
    return count <= most_cells || (index * most_cells) / count != ((index + 1) * most_cells) / count;
  }

  /// A sheet for `cells` pictures with edge `cell`, in a shape near a square.
  contact_sheet(std::size_t cells, std::size_t cell)
      : cell_(cell),
        columns_(static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(std::max<std::size_t>(cells, 1)))))),
        rows_((std::max<std::size_t>(cells, 1) + columns_ - 1) / columns_),
        pixels_(width() * height() * channels, 255) {}

  std::size_t width() const noexcept { return columns_ * (cell_ + gap) + gap; }
  std::size_t height() const noexcept { return rows_ * (cell_ + gap) + gap; }

  /// Puts the next picture, cell * cell * 3 bytes; an empty one stands for a file that could not be read.
  void add(std::span<const std::uint8_t> rgb) {
    const std::size_t left = gap + (used_ % columns_) * (cell_ + gap);
    const std::size_t top = gap + (used_ / columns_) * (cell_ + gap);
    ++used_;
    for (std::size_t y = 0; y < cell_; ++y) {
      std::uint8_t* target = &pixels_[((top + y) * width() + left) * channels];
      if (rgb.empty()) {
        paint_missing(target, y);
      } else {
        std::copy_n(rgb.begin() + static_cast<std::ptrdiff_t>(y * cell_ * channels), cell_ * channels, target);
      }
    }
  }

  /// Writes the sheet. Throws std::runtime_error that names the file.
  void write(const std::filesystem::path& path) const {
    const std::vector<unsigned char> file = encode();
    std::FILE* out = std::fopen(path.c_str(), "wb");
    bool good = out != nullptr && std::fwrite(file.data(), 1, file.size(), out) == file.size();
    int code = errno;
    if (out != nullptr && std::fclose(out) != 0) {
      if (good) code = errno;
      good = false;
    }
    if (!good) {
      throw std::runtime_error("cannot write the contact sheet '" + path.string() +
                               "': " + std::generic_category().message(code));
    }
  }

 private:
  static constexpr std::size_t most_cells = 400;
  static constexpr std::size_t gap = 4;

  // A grey square with a red cross.
  void paint_missing(std::uint8_t* target, std::size_t y) const {
    for (std::size_t x = 0; x < cell_; ++x) {
      const std::size_t from_diagonal =
          std::min(x > y ? x - y : y - x, x + y + 1 > cell_ ? x + y + 1 - cell_ : cell_ - x - y - 1);
      const bool cross = from_diagonal <= cell_ / 64;
      target[x * channels] = cross ? 200 : 224;
      target[x * channels + 1] = target[x * channels + 2] = cross ? 40 : 224;
    }
  }

  // The library's errors here are an exhausted memory and a size beyond 65500, which 400 cells do not reach; its
  // default handler ends the program with a message.
  std::vector<unsigned char> encode() const {
    jpeg_compress_struct state = {};
    jpeg_error_mgr errors = {};
    state.err = jpeg_std_error(&errors);
    jpeg_create_compress(&state);
    unsigned char* buffer = nullptr;
    unsigned long length = 0;
    jpeg_mem_dest(&state, &buffer, &length);
    state.image_width = static_cast<JDIMENSION>(width());
    state.image_height = static_cast<JDIMENSION>(height());
    state.input_components = static_cast<int>(channels);
    state.in_color_space = JCS_RGB;
    jpeg_set_defaults(&state);
    jpeg_set_quality(&state, 90, TRUE);
    jpeg_start_compress(&state, TRUE);
    for (std::size_t y = 0; y < height(); ++y) {
      JSAMPROW row = const_cast<JSAMPROW>(&pixels_[y * width() * channels]);  // only read
      jpeg_write_scanlines(&state, &row, 1);
    }
    jpeg_finish_compress(&state);
    jpeg_destroy_compress(&state);
    const std::unique_ptr<unsigned char, void (*)(void*)> owner(buffer, &std::free);
    return {buffer, buffer + length};
  }

  std::size_t cell_;
  std::size_t columns_;
  std::size_t rows_;
  std::size_t used_ = 0;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace pipeline
