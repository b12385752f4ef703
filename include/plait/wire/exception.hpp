// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/type_name.hpp>
#include <plait/wire/exception_format.hpp>

#include <cxxabi.h>

#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>

PLAIT_INTERFACE

namespace plait::wire {

namespace detail {

// How exceptions of one exact type travel, where the text of what() does not say it all.
struct exception_codec {
  const std::type_info* type = nullptr;
  void (*put)(writer& out, const std::exception_ptr& thrown) = nullptr;
  std::exception_ptr (*get)(reader& in) = nullptr;
  exception_codec* next = nullptr;
};

template <class E>
std::exception_ptr pointer_to(E made) {
  try {
    throw E(std::move(made));
  } catch (...) {
    return std::current_exception();
  }
}

template <class E>
exception_codec codec_of() {
  return {&typeid(E),
          [](writer& out, const std::exception_ptr& thrown) {
            try {
              std::rethrow_exception(thrown);
            } catch (const E& exact) {
              exception_format<E>::put(out, exact);
            }
          },
          [](reader& in) { return pointer_to<E>(exception_format<E>::get(in)); }};
}

struct exception_list {
  std::mutex mutex;
  exception_codec* first = nullptr;
};
PLAIT_EXPORT inline constinit exception_list registered_exceptions;

template <class... E>
exception_codec find_among(std::string_view key) {
  exception_codec found;
  (static_cast<void>(key == typeid(E).name() && (found = codec_of<E>(), true)), ...);
  return found;
}

// By mangled name, on both sides: a type_info of another module may have another address. The codec's type is null if
// there is none.
inline exception_codec find_exception(std::string_view key) {
  {
    const std::lock_guard lock(registered_exceptions.mutex);
    for (auto* codec = registered_exceptions.first; codec != nullptr; codec = codec->next) {
      if (key == codec->type->name()) return *codec;
    }
  }
  return find_among<remote_error, std::system_error, std::ios_base::failure>(key);
}

template <class E>
[[noreturn]] PLAIT_ALWAYS_INLINE void throw_as(const std::string& text) {
  if constexpr (text_exception<E>) {
    throw E(text);
  } else {
    throw E();
  }
}

// The exception of which what() is all that must travel; null if its type is none of these.
template <class... E>
std::exception_ptr make_among(std::string_view key, const std::string& text) {
  try {
    (static_cast<void>(key == typeid(E).name() && (throw_as<E>(text), true)), ...);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}
inline std::exception_ptr make_of_text(std::string_view key, const std::string& text) {
  return make_among<error, cancelled_error, timeout_error, registry_mismatch, std::runtime_error, std::range_error,
                    std::overflow_error, std::underflow_error, std::logic_error, std::domain_error,
                    std::invalid_argument, std::length_error, std::out_of_range, std::exception, std::bad_exception,
                    std::bad_alloc, std::bad_array_new_length, std::bad_cast, std::bad_any_cast, std::bad_typeid,
                    std::bad_weak_ptr, std::bad_function_call, std::bad_optional_access, std::bad_variant_access>(key,
                                                                                                                  text);
}

// The thrown type, and what can be said of the value.
struct description {
  const std::type_info* type;
  std::string text;
};
inline description describe(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& problem) {
    return {abi::__cxa_current_exception_type(), base::what_of(problem)};
  } catch (const std::string& text) {
    return {abi::__cxa_current_exception_type(), text};
  } catch (const char* text) {
    return {abi::__cxa_current_exception_type(), text == nullptr ? "" : text};
  } catch (...) {
    return {abi::__cxa_current_exception_type(), {}};
  }
}

}  // namespace detail

/// Appends an exception so that decode_exception makes it again. rank, host and task_name say where it was thrown. What
/// cannot travel as its own type travels as the parts of a remote_error, also when its encoding throws.
inline void encode_exception(writer& out, const std::exception_ptr& thrown, int rank, std::string_view host,
                             std::string_view task_name) {
  if (!thrown) throw error("plait: there is no exception to encode");
  const auto [type, text] = detail::describe(thrown);
  const std::string key = type != nullptr ? type->name() : "";
  const std::string name = type != nullptr ? demangle(key.c_str()) : "an exception of another language";
  const auto codec = detail::find_exception(key);
  exception_format<remote_error>::put(out, remote_error(rank, std::string(host), std::string(task_name), name, text));
  format<std::string>::put(out, key);
  std::uint64_t length = 0;
  const std::size_t at = out.size();
  out.write(&length, sizeof length);
  if (codec.type == nullptr) return;
  try {
    codec.put(out, thrown);
    length = out.size() - at - sizeof length;
    out.patch(at, &length, sizeof length);
  } catch (...) {  // its type stays here; the text above travels
    out.truncate(at + sizeof length);
    const std::uint64_t nothing = UINT64_MAX;
    out.patch(at, &nothing, sizeof nothing);
  }
}

/// The exception that encode_exception wrote: of its own type if that is standard, plait's or registered, else a
/// remote_error. Throws plait::error if the message is damaged.
inline std::exception_ptr decode_exception(reader& in) {
  auto fallback = exception_format<remote_error>::get(in);
  const auto key = format<std::string>::get(in);
  const auto length = format<std::uint64_t>::get(in);
  if (length != UINT64_MAX && length > in.remaining()) in.fail("ends within an exception");
  const auto payload = in.take(length == UINT64_MAX ? 0 : static_cast<std::size_t>(length));
  if (length != UINT64_MAX) {
    try {
      if (const auto codec = detail::find_exception(key); codec.type != nullptr) {
        reader content(payload);
        return codec.get(content);
      }
      if (auto made = detail::make_of_text(key, fallback.text())) return made;
    } catch (...) {  // cannot be made again here; the fallback says all that can be said
    }
  }
  return detail::pointer_to<remote_error>(std::move(fallback));
}

/// The same as a remote_error, whatever its type.
inline remote_error decode_remote_error(reader& in) { return exception_format<remote_error>::get(in); }

}  // namespace plait::wire

namespace plait {

/// Lets exceptions of exact type E arrive on other ranks as E. Define one at namespace scope:
/// `inline plait::transferable_exception<my_error> register_my_error;`. E needs cereal's functions, or a constructor
/// from the text of what().
template <class E>
class transferable_exception {
  static_assert(wire::exception_format<E>::possible,
                "plait: this exception cannot travel: give it cereal's serialize and a default constructor (or "
                "load_and_construct), or a constructor from the text of what()");

 public:
  transferable_exception() : codec_(wire::detail::codec_of<E>()) {
    auto& list = wire::detail::registered_exceptions;
    const std::lock_guard lock(list.mutex);
    codec_.next = std::exchange(list.first, &codec_);
  }
  transferable_exception(const transferable_exception&) = delete;
  transferable_exception& operator=(const transferable_exception&) = delete;
  ~transferable_exception() {
    auto& list = wire::detail::registered_exceptions;
    const std::lock_guard lock(list.mutex);
    for (auto** at = &list.first; *at != nullptr; at = &(*at)->next) {
      if (*at == &codec_) {
        *at = codec_.next;
        return;
      }
    }
  }

 private:
  wire::detail::exception_codec codec_;
};

}  // namespace plait
