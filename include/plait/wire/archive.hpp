// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/compose.hpp>
#include <plait/base/later.hpp>
#include <plait/base/type_name.hpp>
#include <plait/wire/reader.hpp>
#include <plait/wire/writer.hpp>

#include <cereal/cereal.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

// The archives that a user type's serialize, save and load meet. User types go to cereal's dispatch; everything that
// plait knows (numbers, plain structs, standard containers) goes to format<T>, also when the headers of cereal/types
// are there, so that the bytes do not depend on what a file includes.

PLAIT_INTERFACE

namespace plait::wire {

namespace detail {

template <class T>
void put_part(writer& out, const T& value);  // both are in format.hpp
template <class T>
void get_part(reader& in, T& value);

template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
template <class T>
inline constexpr bool is_cereal_wrapper = plait::detail::spelled_name<T>().starts_with("cereal::");

}  // namespace detail

/// Gives private parts of reader and writer to the archives and formats of this layer.
struct archive_access {
  /// The archive of the value being encoded.
  static output_archive& of(writer& out) noexcept { return *out.archive_; }
  /// The archive of the value being decoded.
  static input_archive& of(reader& in) noexcept { return *in.archive_; }
  /// Sets the archive; returns the former one.
  static output_archive* set(writer& out, output_archive* archive) noexcept {
    return std::exchange(out.archive_, archive);
  }
  /// Sets the archive; returns the former one.
  static input_archive* set(reader& in, input_archive* archive) noexcept { return std::exchange(in.archive_, archive); }
};

/// Counts how deep values nest, so that a list of a million nodes, or a damaged message, is an error and no stack
/// overflow.
class nesting {
 public:
  /// Enters a level; throws plait::error beyond `most`.
  explicit nesting(int& depth) : depth_(depth) {
    if (depth_ >= most) {
      throw error(base::compose(
          {"plait: a value nests deeper than ", most, " levels; send linked structures as a vector of nodes"}));
    }
    ++depth_;
  }
  nesting(const nesting&) = delete;
  nesting& operator=(const nesting&) = delete;
  ~nesting() { --depth_; }
  /// The deepest nesting of user types and pointers that travels.
  static constexpr int most = 1000;

 private:
  int& depth_;
};

/// See output_archive. A template, so that a program whose types need no archive does not compile one.
template <class Writer>
class basic_output_archive : public cereal::OutputArchive<basic_output_archive<Writer>> {
  using base = cereal::OutputArchive<basic_output_archive>;

 public:
  /// Writes through `out` and is its archive until destroyed.
  explicit basic_output_archive(Writer& out) : base(this), out_(out), former_(archive_access::set(out, this)) {}
  basic_output_archive(const basic_output_archive&) = delete;
  basic_output_archive& operator=(const basic_output_archive&) = delete;
  ~basic_output_archive() { archive_access::set(out_, former_); }

  /// Writes the values one after another; what serialize calls.
  template <class... Ts>
  basic_output_archive& operator()(Ts&&... values) {
    (part(values), ...);
    return *this;
  }
  /// The same for one value, in the style of Boost.
  template <class T>
  basic_output_archive& operator&(T&& value) {
    return (*this)(value);
  }
  /// The same for one value, in the style of Boost.
  template <class T>
  basic_output_archive& operator<<(T&& value) {
    return (*this)(value);
  }
  /// Writes what was given to cereal::defer.
  void serializeDeferments() {
    for (auto& part : std::exchange(deferred_, {})) part();
  }

  /// Hands a value to its own serialize or save.
  template <class T>
  void user_defined(const T& value) {
    const nesting level(depth_);
    base::operator()(value);
  }

  /// A number for the object at `pointer`; true with it if it is new. Keeps the object alive, so no address comes
  /// twice.
  std::pair<std::size_t, bool> number_of(std::shared_ptr<const void> pointer, const std::type_info& type) {
    const auto [at, inserted] = numbers_.try_emplace({pointer.get(), &type}, numbers_.size());
    if (inserted) kept_.push_back(std::move(pointer));
    return {at->second, inserted};
  }

  /// The counter for class nesting.
  int& depth() noexcept { return depth_; }
  /// The writer behind the archive.
  Writer& out() noexcept { return out_; }

 private:
  template <class T>
  void part(const cereal::NameValuePair<T>& named) {
    part(named.value);
  }
  template <class T>
  void part(const cereal::SizeTag<T>& tag) {
    out_.write_size(tag.size);
  }
  template <class T>
  void part(const cereal::BinaryData<T>& block) {
    out_.write(block.data, static_cast<std::size_t>(block.size));
  }
  template <class T>
  void part(const cereal::DeferredData<T>& deferred) {
    deferred_.emplace_back([this, deferred] { part(deferred.value); });
  }
  template <class T, std::size_t N>
  void part(const T (&array)[N]) {
    if constexpr (detail::is_number<T>) {
      out_.write(array, sizeof array);
    } else {
      for (const auto& element : array) part(element);
    }
  }
  template <class T>
  void part(const T& value) {
    if constexpr (detail::is_cereal_wrapper<T>) {
      base::operator()(value);
    } else {
      detail::put_part(out_, value);
    }
  }

  Writer& out_;
  basic_output_archive* former_;
  int depth_ = 0;
  plait::base::later<std::map<std::pair<const void*, const std::type_info*>, std::size_t>, Writer> numbers_;
  plait::base::later<std::vector<std::shared_ptr<const void>>, Writer> kept_;
  plait::base::later<std::vector<std::function<void()>>, Writer> deferred_;
};

/// See input_archive.
template <class Reader>
class basic_input_archive : public cereal::InputArchive<basic_input_archive<Reader>> {
  using base = cereal::InputArchive<basic_input_archive>;

 public:
  /// Reads through `in` and is its archive until destroyed.
  explicit basic_input_archive(Reader& in) : base(this), in_(in), former_(archive_access::set(in, this)) {}
  basic_input_archive(const basic_input_archive&) = delete;
  basic_input_archive& operator=(const basic_input_archive&) = delete;
  ~basic_input_archive() { archive_access::set(in_, former_); }

  /// Reads into the values one after another; what serialize calls.
  template <class... Ts>
  basic_input_archive& operator()(Ts&&... values) {
    (part(values), ...);
    return *this;
  }
  /// The same for one value, in the style of Boost.
  template <class T>
  basic_input_archive& operator&(T&& value) {
    return (*this)(value);
  }
  /// The same for one value, in the style of Boost.
  template <class T>
  basic_input_archive& operator>>(T&& value) {
    return (*this)(value);
  }
  /// Reads what was given to cereal::defer.
  void serializeDeferments() {
    for (auto& part : std::exchange(deferred_, {})) part();
  }

  /// Hands a value to its own serialize or load.
  template <class T>
  void user_defined(T& value) {
    const nesting level(depth_);
    base::operator()(value);
  }

  /// Pointers of the objects read so far, in the order of their numbers. The type guards against damaged numbers.
  struct shared_object {
    const std::type_info* type;
    std::shared_ptr<void> pointer;
  };
  /// Those objects.
  std::vector<shared_object>& shared_objects() noexcept { return shared_; }
  /// The counter for class nesting.
  int& depth() noexcept { return depth_; }
  /// The reader behind the archive.
  Reader& in() noexcept { return in_; }

 private:
  template <class T>
  void part(cereal::NameValuePair<T>& named) {
    part(named.value);
  }
  template <class T>
  void part(cereal::SizeTag<T>& tag) {
    // Of a container that cereal loads itself: each element must take a byte at least.
    tag.size = static_cast<std::remove_reference_t<T>>(in_.read_size());
  }
  template <class T>
  void part(cereal::BinaryData<T>& block) {
    in_.read(block.data, static_cast<std::size_t>(block.size));
  }
  template <class T>
  void part(cereal::DeferredData<T>& deferred) {
    deferred_.emplace_back([this, deferred]() mutable { part(deferred.value); });
  }
  template <class T, std::size_t N>
  void part(T (&array)[N]) {
    if constexpr (detail::is_number<T>) {
      in_.read(array, sizeof array);
    } else {
      for (auto& element : array) part(element);
    }
  }
  template <class T>
  void part(T& value) {
    if constexpr (detail::is_cereal_wrapper<std::remove_const_t<T>>) {
      base::operator()(value);
    } else {
      detail::get_part(in_, const_cast<std::remove_const_t<T>&>(value));
    }
  }

  Reader& in_;
  basic_input_archive* former_;
  int depth_ = 0;
  plait::base::later<std::vector<shared_object>, Reader> shared_;
  plait::base::later<std::vector<std::function<void()>>, Reader> deferred_;
};

// What cereal's own dispatch still asks of an archive: the version number of a class, and the values of save_minimal.

/// Writes a number for cereal.
template <class T>
  requires std::is_arithmetic_v<T>
void CEREAL_SAVE_FUNCTION_NAME(output_archive& archive, const T& value) { archive.out().write(&value, sizeof value); }
/// Reads a number for cereal.
template <class T>
  requires std::is_arithmetic_v<T>
void CEREAL_LOAD_FUNCTION_NAME(input_archive& archive, T& value) { archive(value); }
/// Writes a string for cereal.
template <class T>
  requires std::is_same_v<T, std::string>
void CEREAL_SAVE_FUNCTION_NAME(output_archive& archive, const T& value) { archive(value); }
/// Reads a string for cereal.
template <class T>
  requires std::is_same_v<T, std::string>
void CEREAL_LOAD_FUNCTION_NAME(input_archive& archive, T& value) { archive(value); }
/// Writes a named value for cereal.
template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(output_archive& archive, cereal::NameValuePair<T>& named) {
  archive(named.value);
}
/// Reads a named value for cereal.
template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(input_archive& archive, cereal::NameValuePair<T>& named) {
  archive(named.value);
}

}  // namespace plait::wire

CEREAL_SETUP_ARCHIVE_TRAITS(plait::wire::input_archive, plait::wire::output_archive)
