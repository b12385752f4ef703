// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <string>

#include "options.hpp"
#include "terminal.hpp"

namespace pipeline {

/// Shows how many of the files are done, on stderr: a bar that redraws itself, or a line at each tenth. Any thread may
/// report.
class progress_meter {
 public:
  progress_meter(std::size_t total, progress_style style) : total_(total), style_(style) {
    if (style_ == progress_style::automatic) {
      style_ = stderr_is_watched() ? progress_style::bar : progress_style::lines;
    }
    if (style_ == progress_style::bar) draw(0);
  }

  progress_meter(const progress_meter&) = delete;
  progress_meter& operator=(const progress_meter&) = delete;
  ~progress_meter() { finish(); }

  /// `done` files have ended. Reports that arrive late or out of order are ignored.
  void update(std::size_t done) {
    const std::lock_guard lock(mutex_);
    if (done <= done_ || style_ == progress_style::none) return;
    const std::size_t tenth_before = done_ * 10 / total_;
    done_ = std::min(done, total_);
    if (style_ == progress_style::bar) {
      const clock::time_point now = clock::now();
      if (done_ < total_ && now - drawn_ < std::chrono::milliseconds(50)) return;
      drawn_ = now;
      draw(done_);
    } else if (done_ * 10 / total_ != tenth_before) {
      std::fprintf(stderr, "%3zu %%  %zu of %zu files\n", done_ * 100 / total_, done_, total_);
    }
  }

  /// Ends the bar's line, so that other output starts on a fresh one.
  void finish() {
    const std::lock_guard lock(mutex_);
    if (style_ == progress_style::bar) std::fputc('\n', stderr);
    style_ = progress_style::none;
  }

 private:
  using clock = std::chrono::steady_clock;

  void draw(std::size_t done) const {
    static constexpr std::size_t length = 40;
    const std::size_t filled = total_ == 0 ? length : done * length / total_;
    const double seconds = std::chrono::duration<double>(clock::now() - start_).count();
    const std::string bar = std::string(filled, '#') + std::string(length - filled, '.');
    std::fprintf(stderr, "\r[%s] %3zu %%  %zu of %zu files  %.1f/s ", bar.c_str(),
                 total_ == 0 ? 100 : done * 100 / total_, done, total_,
                 seconds > 0 ? static_cast<double>(done) / seconds : 0.0);
    std::fflush(stderr);
  }

  std::mutex mutex_;
  std::size_t total_;
  std::size_t done_ = 0;
  progress_style style_;
  clock::time_point start_ = clock::now();
  clock::time_point drawn_ = start_;
};

}  // namespace pipeline
