// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace plait_test {

/// What is written to stderr until text() is called.
class captured_stderr {
 public:
  captured_stderr() : file_(std::tmpfile()), before_(::dup(2)) {
    std::fflush(stderr);
    ::dup2(::fileno(file_), 2);
  }
  captured_stderr(const captured_stderr&) = delete;
  captured_stderr& operator=(const captured_stderr&) = delete;
  ~captured_stderr() { end(); }

  std::string text() {
    end();
    std::rewind(file_);
    std::string all;
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) all += static_cast<char>(c);
    return all;
  }

 private:
  void end() {
    if (before_ < 0) return;
    std::fflush(stderr);
    ::dup2(before_, 2);
    ::close(before_);
    before_ = -1;
  }

  std::FILE* file_;
  int before_;
};

}  // namespace plait_test
