// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "area_filter.hpp"

namespace pipeline {

/// Mean and standard deviation of each channel (red, green, blue; values in 0 to 1) over the ImageNet training set, as
/// the documentation of torchvision gives them for its pretrained models ("mean=[0.485, 0.456, 0.406] and
/// std=[0.229, 0.224, 0.225]").
inline constexpr std::array<double, channels> channel_mean = {0.485, 0.456, 0.406};
inline constexpr std::array<double, channels> channel_deviation = {0.229, 0.224, 0.225};

/// The network's input for a mean colour value in 0 to 255. Rounded once, at the end.
inline float normalised(double value, std::size_t channel) {
  return static_cast<float>((value / 255.0 - channel_mean[channel]) / channel_deviation[channel]);
}

/// The nearest byte, for pictures that people look at.
inline std::uint8_t rounded(double value) { return static_cast<std::uint8_t>(value + 0.5); }

}  // namespace pipeline
