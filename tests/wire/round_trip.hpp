// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/wire/codec.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace wire_test {

/// The bytes of a value.
template <class T>
std::vector<std::byte> encoded(const T& value) {
  std::vector<std::byte> bytes;
  plait::wire::writer out(bytes);
  plait::wire::encode(out, value);
  out.flush();
  return bytes;
}

/// The value that the bytes stand for, all of them.
template <class T>
T decoded(const std::vector<std::byte>& bytes) {
  plait::wire::reader in(bytes);
  T value = plait::wire::decode<T>(in);
  in.expect_end();
  return value;
}

/// The value after a journey.
template <class T>
T round_trip(const T& value) {
  return decoded<T>(encoded(value));
}

}  // namespace wire_test
