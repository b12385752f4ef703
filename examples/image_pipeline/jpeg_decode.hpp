// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <jpeglib.h>  // needs <cstddef> and <cstdio> before it

#include <jerror.h>  // and this needs jpeglib.h

#include "area_filter.hpp"

namespace pipeline {

/// The file is no JPEG that can be decoded; what() is the library's message or the reason.
class jpeg_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Decodes one JPEG in memory, row by row, to RGB.
///
/// Grayscale becomes three equal channels. CMYK and YCCK are converted by the plain formula, without a colour profile;
/// files with an Adobe marker hold inverted values. Damage that the library only warns of (a premature end, a bad
/// Huffman code) is an error here, since pixels would be made up. EXIF orientation is ignored: rows come as they are
/// stored. A decoder must not be moved or shared between threads.
class jpeg_decoder {
 public:
  /// Reads the header. `file` must outlive the decoder. Throws jpeg_error.
  explicit jpeg_decoder(std::span<const unsigned char> file) {
    if (file.empty()) throw jpeg_error("the file is empty");
    state_.err = jpeg_std_error(&errors_.base);
    errors_.base.error_exit = leave;
    errors_.base.emit_message = note_warning;
    errors_.base.output_message = [](j_common_ptr) {};
    try {
      guarded([&] { jpeg_create_decompress(&state_); });
      state_.mem->max_memory_to_use = most_memory;
      guarded([&] { jpeg_mem_src(&state_, file.data(), static_cast<unsigned long>(file.size())); });
      guarded([&] { jpeg_read_header(&state_, TRUE); });
      choose_output();
      guarded([&] { jpeg_start_decompress(&state_); });
    } catch (...) {
      jpeg_destroy_decompress(&state_);
      throw;
    }
  }

  jpeg_decoder(const jpeg_decoder&) = delete;
  jpeg_decoder& operator=(const jpeg_decoder&) = delete;
  ~jpeg_decoder() { jpeg_destroy_decompress(&state_); }

  std::size_t width() const noexcept { return state_.output_width; }
  std::size_t height() const noexcept { return state_.output_height; }

  /// Decodes the next row into 3 * width() bytes. Throws jpeg_error, also for damage.
  void read_row(std::span<std::uint8_t> rgb) {
    if (rgb.size() != width() * channels) throw std::invalid_argument("jpeg_decoder: the row has another length");
    const bool cmyk = state_.out_color_space == JCS_CMYK;
    if (cmyk) cmyk_row_.resize(width() * 4);
    JSAMPROW row = cmyk ? cmyk_row_.data() : rgb.data();
    guarded([&] { jpeg_read_scanlines(&state_, &row, 1); });
    if (cmyk) convert_cmyk(rgb);
  }

  /// Checks the end of the file after the last row. Throws jpeg_error.
  void finish() {
    guarded([&] { jpeg_finish_decompress(&state_); });
  }

 private:
  // Coefficients of progressive files are held in memory: 8 GiB for the largest possible image. Beyond this the library
  // reports an error.
  static constexpr long most_memory = 2L * 1024 * 1024 * 1024 - 1;

  struct error_state {
    jpeg_error_mgr base;  // first: the library's pointer to it is cast back
    std::jmp_buf escape;
    char text[JMSG_LENGTH_MAX];
    bool damaged;
  };

  static error_state& errors_of(j_common_ptr state) { return *reinterpret_cast<error_state*>(state->err); }

  [[noreturn]] static void leave(j_common_ptr state) {
    error_state& errors = errors_of(state);
    errors.base.format_message(state, errors.text);
    std::longjmp(errors.escape, 1);
  }

  static void note_warning(j_common_ptr state, int level) {
    if (level >= 0) return;  // trace messages
    error_state& errors = errors_of(state);
    const int code = errors.base.msg_code;
    const bool about_pixels = code != JWRN_ADOBE_XFORM && code != JWRN_JFIF_MAJOR;
    if (!about_pixels || errors.damaged) return;
    errors.base.format_message(state, errors.text);
    errors.damaged = true;
  }

  // Runs one call into the library. Its error exit jumps back to here over C frames and over `call`, which holds
  // nothing that needs a destructor, and leaves as an exception.
  template <class Call>
  void guarded(Call call) {
    static_assert(std::is_trivially_destructible_v<Call>);
    if (setjmp(errors_.escape) != 0) throw jpeg_error(errors_.text);
    call();
    if (errors_.damaged) throw jpeg_error(errors_.text);
  }

  void choose_output() {
    switch (state_.jpeg_color_space) {
      case JCS_GRAYSCALE:
      case JCS_RGB:
      case JCS_YCbCr:
        state_.out_color_space = JCS_RGB;
        return;
      case JCS_CMYK:
      case JCS_YCCK:
        state_.out_color_space = JCS_CMYK;
        return;
      default:
        throw jpeg_error("unknown colour space with " + std::to_string(state_.num_components) + " components");
    }
  }

  void convert_cmyk(std::span<std::uint8_t> rgb) const {
    const unsigned flip = state_.saw_Adobe_marker ? 0 : 255;  // to "how much light is left", as Adobe stores it
    for (std::size_t i = 0; i < width(); ++i) {
      const unsigned light = cmyk_row_[i * 4 + 3] ^ flip;
      for (std::size_t k = 0; k < channels; ++k) {
        rgb[i * channels + k] = static_cast<std::uint8_t>(((cmyk_row_[i * 4 + k] ^ flip) * light + 127) / 255);
      }
    }
  }

  jpeg_decompress_struct state_ = {};
  error_state errors_ = {};
  std::vector<std::uint8_t> cmyk_row_;
};

}  // namespace pipeline
