// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/type_name.hpp>
#include <plait/wire/reader.hpp>
#include <plait/wire/transferable.hpp>
#include <plait/wire/writer.hpp>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <typeinfo>

PLAIT_INTERFACE

namespace plait::wire {

/// Appends a value. If its save throws, the writer is left as it was before. Objects held by shared_ptr are sent once
/// for each call, so values that share objects belong into one tuple.
template <class T>
void encode(writer& out, const T& value) {
  check_transferable<T>();
  if constexpr (transferable<T>) {
    if constexpr (format<T>::uses_archive) {
      const std::size_t before = out.size();
      try {
        output_archive archive(out);
        format<T>::put(out, value);
        archive.serializeDeferments();
      } catch (...) {
        out.truncate(before);
        throw;
      }
    } else {
      format<T>::put(out, value);
    }
  }
}

/// Reads a value that encode<T> wrote. Throws plait::error if the message is too short or damaged; what a user's load
/// throws passes through. Damage inside plain bytes cannot be seen and gives another value.
template <class T>
T decode(reader& in) {
  check_transferable<T>();
  if constexpr (transferable<T>) {
    if constexpr (format<T>::uses_archive) {
      try {
        input_archive archive(in);
        T value = format<T>::get(in);
        archive.serializeDeferments();
        return value;
      } catch (const cereal::Exception& problem) {
        in.fail("does not hold a " + type_name(typeid(T)) + ": " + problem.what());
      } catch (const std::length_error& problem) {
        in.fail("does not hold a " + type_name(typeid(T)) + ": " + problem.what());
      }
    } else {
      return format<T>::get(in);
    }
  }
}

}  // namespace plait::wire
