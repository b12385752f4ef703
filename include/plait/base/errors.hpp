// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/compose.hpp>
#include <plait/base/config.hpp>

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

PLAIT_INTERFACE

namespace plait {

namespace base {
/// What an exception says; of one that says nothing, by a null pointer, an empty text.
inline const char* what_of(const std::exception& e) noexcept {
  const char* const text = e.what();
  return text != nullptr ? text : "";
}
}  // namespace base

/// Base of every error that plait itself raises. The message says what happened, where, and what to do.
class PLAIT_EXPORT error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The task was cancelled before it started, or it left a wait because a stop was requested.
class PLAIT_EXPORT cancelled_error : public error {
 public:
  cancelled_error() : error("plait: the task was cancelled") {}
  explicit cancelled_error(const char* what) : error(what) {}
  explicit cancelled_error(const std::string& what) : error(what) {}
};

/// A wait with a time limit ended before the result was there.
class PLAIT_EXPORT timeout_error : public error {
 public:
  timeout_error() : error("plait: the wait reached its time limit before the task ended") {}
  explicit timeout_error(const char* what) : error(what) {}
  explicit timeout_error(const std::string& what) : error(what) {}
};

/// Ranks of one job do not have the same set of callables: they run different programs or different builds.
class PLAIT_EXPORT registry_mismatch : public error {
 public:
  using error::error;
};

/// An exception from another rank whose type could not travel. what() has the rank, host, task and type.
/// Copies share nothing mutable; safe to read from any thread.
class PLAIT_EXPORT remote_error : public error {
 public:
  /// rank: where it was thrown; host: that rank's host name; task: the task's function; type: the demangled type of the
  /// exception; text: its what(), or empty where it had none.
  remote_error(int rank, std::string host, std::string task, std::string type, std::string text)
      : error(base::compose({task.starts_with("the ") ? "plait: " : "plait: task ", task, " on rank ", rank, " (", host,
                             ") threw ", type, text.empty() ? "" : ": ", text})),
        rank_(rank),
        host_(std::move(host)),
        task_(std::move(task)),
        type_(std::move(type)),
        text_(std::move(text)) {}

  /// The rank on which the exception was thrown.
  int rank() const noexcept { return rank_; }
  /// The name of the host of that rank.
  const std::string& host() const noexcept { return host_; }
  /// The name of the task that threw.
  const std::string& task_name() const noexcept { return task_; }
  /// The demangled name of the exception's dynamic type.
  const std::string& type_name() const noexcept { return type_; }
  /// The original what(), without the additions of this class; empty if it had none.
  const std::string& text() const noexcept { return text_; }

 private:
  int rank_;
  std::string host_;
  std::string task_;
  std::string type_;
  std::string text_;
};

}  // namespace plait
