// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <hdf5.h>

namespace pipeline {

/// A call into HDF5 failed; what() has the call's purpose and the library's innermost message.
class hdf5_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {

inline std::string innermost_hdf5_message() {
  std::string text;
  const auto note = [](unsigned, const H5E_error2_t* entry, void* target) -> herr_t {
    if (entry->desc != nullptr && *entry->desc != '\0') *static_cast<std::string*>(target) = entry->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, note, &text);
  return text.empty() ? std::string("no reason given") : text;
}

}  // namespace detail

/// Passes a result on, or throws hdf5_error: "cannot <purpose>: <the library's message>".
template <class Result>
Result hdf5_check(Result result, const std::string& purpose) {
  if (result < 0) throw hdf5_error("cannot " + purpose + ": " + detail::innermost_hdf5_message());
  return result;
}

/// Owns an identifier of the library: a file, dataset, property list and so on.
class hdf5_handle {
 public:
  using closer = herr_t (*)(hid_t);

  hdf5_handle() = default;
  /// Takes the result of a call that opens or creates; `purpose` is for the error's text.
  hdf5_handle(hid_t id, closer closing, const std::string& purpose) : id_(hdf5_check(id, purpose)), close_(closing) {}
  hdf5_handle(hdf5_handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  hdf5_handle& operator=(hdf5_handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~hdf5_handle() {
    if (id_ >= 0) close_(id_);
  }

  hid_t get() const noexcept { return id_; }

  /// Closes now, with a check: a file's last bytes are written here.
  void close(const std::string& purpose) {
    if (id_ >= 0) hdf5_check(close_(std::exchange(id_, -1)), purpose);
  }

 private:
  hid_t id_ = -1;
  closer close_ = nullptr;
};

}  // namespace pipeline
