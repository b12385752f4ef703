// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>
#include <plait/base/text.hpp>

#include <concepts>
#include <cstddef>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>

PLAIT_INTERFACE

namespace plait::base {

/// A part of a message: a text, which must live until it is put together, or a whole number.
class text_part {
 public:
  text_part(const char* text) : text_(text) {}
  text_part(std::string_view text) noexcept : text_(text) {}
  text_part(const std::string& text) noexcept : text_(text) {}
  text_part(const base::text& text) noexcept : text_(text) {}
  template <std::signed_integral N>
  text_part(N number) noexcept : text_part("%lld", static_cast<unsigned long long>(number)) {}
  template <std::unsigned_integral N>
  text_part(N number) noexcept : text_part("%llu", static_cast<unsigned long long>(number)) {}

  template <class Message>
  void append_to(Message& message) const {
    if (size_ == 0) {
      message.append(text_.data(), text_.size());
    } else {
      message.append(digits_, size_);
    }
  }

 private:
  text_part(const char* format, unsigned long long bits) noexcept
      : size_(static_cast<std::size_t>(std::snprintf(digits_, sizeof digits_, format, bits))) {}

  std::string_view text_;
  std::size_t size_ = 0;  // of the digits
  char digits_[24];
};

/// Puts texts and numbers together: compose({"plait: rank ", rank, " is ", what}).
inline std::string compose(std::initializer_list<text_part> parts) {
  std::string all;
  for (const auto& part : parts) part.append_to(all);
  return all;
}

/// Appends them to what is there.
inline void compose_onto(text& all, std::initializer_list<text_part> parts) {
  for (const auto& part : parts) part.append_to(all);
}

/// The same as compose, where the characters are all that is wanted.
inline text compose_text(std::initializer_list<text_part> parts) {
  text all;
  compose_onto(all, parts);
  return all;
}

}  // namespace plait::base
