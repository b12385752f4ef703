// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "area_filter.hpp"
#include "jpeg_decode.hpp"
#include "normalise.hpp"

namespace pipeline {

/// One photograph, ready for a network and for a look.
struct processed_image {
  std::size_t width = 0;  ///< of the photograph, in pixels
  std::size_t height = 0;
  std::vector<float> values;      ///< size * size * 3: rows, columns, channels; normalised
  std::vector<std::uint8_t> rgb;  ///< the same, as bytes and not normalised
};

/// Reads a whole file. Throws std::runtime_error with the reason.
inline std::vector<unsigned char> read_file(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (error) throw std::runtime_error(error.message());
  if (!std::filesystem::is_regular_file(status)) throw std::runtime_error("not a regular file");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) throw std::runtime_error(std::generic_category().message(errno));
  std::vector<unsigned char> bytes(std::filesystem::file_size(path, error));
  const std::size_t read = bytes.empty() ? 0 : std::fread(bytes.data(), 1, bytes.size(), file.get());
  if (std::ferror(file.get()) != 0) throw std::runtime_error(std::generic_category().message(errno));
  bytes.resize(read);
  return bytes;
}

/// Decodes a JPEG in memory and resizes it to size * size. One row of the photograph is held at a time. Throws
/// jpeg_error.
inline processed_image process_image(std::span<const unsigned char> file, std::size_t size) {
  jpeg_decoder decoder(file);
  processed_image result{decoder.width(), decoder.height(), std::vector<float>(size * size * channels),
                         std::vector<std::uint8_t>(size * size * channels)};
  area_filter filter(result.width, result.height, size);
  std::vector<std::uint8_t> row(result.width * channels);
  for (std::size_t y = 0; y < result.height; ++y) {
    decoder.read_row(row);
    filter.add_row(row, [&](std::size_t target, std::span<const std::uint64_t> sums) {
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const double mean = static_cast<double>(sums[i]) / filter.weight();
        result.values[target * sums.size() + i] = normalised(mean, i % channels);
        result.rgb[target * sums.size() + i] = rounded(mean);
      }
    });
  }
  decoder.finish();
  return result;
}

/// A square RGB image at another size, by the same filter.
inline std::vector<std::uint8_t> resized_square(std::span<const std::uint8_t> rgb, std::size_t size,
                                                std::size_t new_size) {
  if (size == new_size) return {rgb.begin(), rgb.end()};
  std::vector<std::uint8_t> result(new_size * new_size * channels);
  area_filter filter(size, size, new_size);
  for (std::size_t y = 0; y < size; ++y) {
    filter.add_row(rgb.subspan(y * size * channels, size * channels),
                   [&](std::size_t target, std::span<const std::uint64_t> sums) {
                     for (std::size_t i = 0; i < sums.size(); ++i) {
                       result[target * sums.size() + i] = rounded(static_cast<double>(sums[i]) / filter.weight());
                     }
                   });
  }
  return result;
}

}  // namespace pipeline
