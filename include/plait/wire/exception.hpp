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
#include <optional>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>

namespace plait::wire {

namespace detail {

// How exceptions of one exact type travel.
struct exception_codec {
  const std::type_info* type;
  void (*put)(writer& out, const std::exception_ptr& thrown);
  std::exception_ptr (*get)(reader& in);
  exception_codec* next = nullptr;
};

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
          [](reader& in) { return std::make_exception_ptr(exception_format<E>::get(in)); }};
}

struct exception_list {
  std::mutex mutex;
  exception_codec* first = nullptr;
};
PLAIT_EXPORT inline constinit exception_list registered_exceptions;

template <class... E>
std::optional<exception_codec> find_among(std::string_view key) {
  static const exception_codec known[] = {codec_of<E>()...};
  for (const auto& codec : known) {
    if (key == codec.type->name()) return codec;
  }
  return std::nullopt;
}

// By mangled name, on both sides: a type_info of another module may have another address.
inline std::optional<exception_codec> find_exception(std::string_view key) {
  {
    const std::scoped_lock lock(registered_exceptions.mutex);
    for (auto* codec = registered_exceptions.first; codec != nullptr; codec = codec->next) {
      if (key == codec->type->name()) return *codec;
    }
  }
  return find_among<error, cancelled_error, timeout_error, registry_mismatch, remote_error, std::runtime_error,
                    std::range_error, std::overflow_error, std::underflow_error, std::logic_error, std::domain_error,
                    std::invalid_argument, std::length_error, std::out_of_range, std::system_error,
                    std::ios_base::failure, std::exception, std::bad_exception, std::bad_alloc,
                    std::bad_array_new_length, std::bad_cast, std::bad_any_cast, std::bad_typeid, std::bad_weak_ptr,
                    std::bad_function_call, std::bad_optional_access, std::bad_variant_access>(key);
}

// The thrown type, and what can be said of the value.
inline std::pair<const std::type_info*, std::string> describe(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& problem) {
    return {abi::__cxa_current_exception_type(), problem.what()};
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
  format<std::string>::put(out, codec ? key : std::string());
  std::uint64_t length = 0;
  const std::size_t at = out.size();
  out.write(&length, sizeof length);
  if (!codec) return;
  try {
    codec->put(out, thrown);
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
  if (const auto codec = key.empty() || length == UINT64_MAX ? std::nullopt : detail::find_exception(key)) {
    try {
      reader content(payload);
      return codec->get(content);
    } catch (...) {  // cannot be made again here; the fallback says all that can be said
    }
  }
  return std::make_exception_ptr(std::move(fallback));
}

/// The same as a remote_error, whatever its type.
inline remote_error decode_remote_error(reader& in) {
  using parts = std::tuple<int, std::string, std::string, std::string, std::string, std::string>;
  auto [rank, host, task, type, text, key] = decode<parts>(in);
  return remote_error(rank, std::move(host), std::move(task), std::move(type), std::move(text));
}

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
    const std::scoped_lock lock(list.mutex);
    codec_.next = std::exchange(list.first, &codec_);
  }
  transferable_exception(const transferable_exception&) = delete;
  transferable_exception& operator=(const transferable_exception&) = delete;
  ~transferable_exception() {
    auto& list = wire::detail::registered_exceptions;
    const std::scoped_lock lock(list.mutex);
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
