// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/clock.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/pause.hpp>
#include <plait/base/ranges.hpp>
#include <plait/task/future.hpp>
#include <plait/task/progress_line.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

PLAIT_INTERFACE

namespace plait {

/// How progress is shown: a bar that is drawn again and again, a line now and then, or not at all.
enum class progress_style : std::uint8_t {
  automatic,  ///< what PLAIT_PROGRESS says (bar, lines or off); else a bar on a terminal and lines elsewhere
  bar,
  lines,
  quiet,
};

struct progress_options {
  const char* label = "";  ///< stands before it
  progress_style style = progress_style::automatic;
  std::FILE* out = nullptr;  ///< null: stderr
};
static_assert(std::is_trivially_destructible_v<progress_options>);

namespace detail {

inline bool is_terminal(std::FILE* out) noexcept {
  const char* kind = std::getenv("TERM");
  return ::isatty(::fileno(out)) == 1 && !(kind != nullptr && std::string_view(kind) == "dumb");
}

/// What the setting means for this output. Throws plait::error if PLAIT_PROGRESS has another value.
inline progress_style resolve_progress(progress_style asked, std::FILE* out) {
  if (asked != progress_style::automatic) return asked;
  if (const char* text = std::getenv("PLAIT_PROGRESS")) {
    const std::string_view value = text;
    if (value == "bar") return progress_style::bar;
    if (value == "lines") return progress_style::lines;
    if (value == "off" || value == "quiet" || value == "0") return progress_style::quiet;
    if (value != "auto") {
      throw error(base::compose(
          {"plait: the environment variable PLAIT_PROGRESS is '", value, "'; accepted is auto, bar, lines or off"}));
    }
  }
  return is_terminal(out) ? progress_style::bar : progress_style::lines;
}

/// The counts and the output, which outlive the bar where futures that it watches do.
class progress_counter {
 public:
  progress_counter(std::size_t total, const progress_options& o)
      : out_(o.out != nullptr ? o.out : stderr),
        style_(resolve_progress(o.style, out_)),
        label_(std::string_view(o.label != nullptr ? o.label : "")),
        start_(base::now()),
        total_(total) {
    next_.store(since_start() + interval(), std::memory_order_relaxed);  // not shared yet
  }

  void expect(std::size_t more) noexcept { total_.fetch_add(more, std::memory_order_relaxed); }  // a figure to show

  void advance(std::size_t count) noexcept {
    const auto done = done_.fetch_add(count, std::memory_order_relaxed) + count;  // as above
    if (style_ == progress_style::quiet) return;
    const auto time = since_start();
    const bool complete = done == total_.load(std::memory_order_relaxed);   // as above
    if (!complete && time < next_.load(std::memory_order_relaxed)) return;  // a hint
    if (complete) {
      enter();
    } else if (drawing_.exchange(true,
                                 std::memory_order_acquire)) {  // partner: leave; who draws has seen nearly as much
      return;
    }
    next_.store(time + interval(), std::memory_order_relaxed);  // as above
    if (!closed_) draw();
    leave();
  }

  /// Shows the last state, and nothing any more.
  void close() noexcept {
    if (style_ == progress_style::quiet) return;
    enter();
    if (!closed_ && shown_ != done_.load(std::memory_order_relaxed) + 1) draw();  // as above
    if (open_line_) put("\n");
    closed_ = true;
    leave();
  }

 private:
  std::int64_t since_start() const noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(base::now() - start_).count();
  }
  std::int64_t interval() const noexcept { return style_ == progress_style::bar ? 100'000'000 : 5'000'000'000; }

  void enter() noexcept {
    for (base::backoff turns; drawing_.exchange(true, std::memory_order_acquire);) turns.wait();  // partner: leave
  }
  void leave() noexcept { drawing_.store(false, std::memory_order_release); }  // partner: enter

  std::size_t columns() const noexcept {
    winsize size{};
    return ::ioctl(::fileno(out_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  }

  void put(const char* text) noexcept {
    std::fputs(text, out_);
    std::fflush(out_);
  }

  /// By who has entered. Without memory for the text: nothing.
  void draw() noexcept {
    const auto done = done_.load(std::memory_order_relaxed),
               total = total_.load(std::memory_order_relaxed);  // as above
    const progress_state state{label_, done, total, static_cast<double>(since_start()) * 1e-9};
    const bool complete = total != 0 && done >= total;
    try {
      if (style_ == progress_style::bar) {
        put(base::compose_text({"\r", progress_bar_line(state, columns()), complete ? "\x1b[K\n" : "\x1b[K"}).c_str());
        open_line_ = !complete;
      } else {
        put(base::compose_text({progress_line(state), "\n"}).c_str());
      }
      shown_ = done + 1;
    } catch (...) {
    }
  }

  std::FILE* out_;
  progress_style style_;
  base::text label_;
  std::chrono::steady_clock::time_point start_;
  base::atomic<std::size_t> done_{0};
  base::atomic<std::size_t> total_;
  base::atomic<std::int64_t> next_{0};
  base::atomic<bool> drawing_{false};
  // Of who draws.
  std::size_t shown_ = 0;  // one more than what was shown last
  bool open_line_ = false;
  bool closed_ = false;
};

}  // namespace detail

/// Shows how many of a number of things are done, at what rate, and how long the rest will take at that rate: as a bar
/// that is drawn ten times a second where stderr is a terminal, else as a line every five seconds and one at the end.
/// PLAIT_PROGRESS=bar, lines or off decides otherwise. Drawn by those who report progress, if it is time: no thread is
/// started. All members but the constructors and the destructor may be called in any thread.
class progress_bar {
 public:
  /// total: how many things there are, 0 if that is not known. Throws plait::error if PLAIT_PROGRESS has a value that
  /// it does not know.
  explicit progress_bar(std::size_t total = 0, progress_options options = {})
      : counter_(std::make_shared<detail::progress_counter>(total, options)) {}

  /// Of the futures of a range, which stay the caller's.
  template <std::ranges::forward_range R>
    requires detail::is_future<std::remove_cvref_t<decltype(*std::declval<R&>().begin())>>
  explicit progress_bar(R& futures, progress_options options = {}) : progress_bar(0, options) {
    std::size_t count = 0;
    for (auto at = std::ranges::begin(futures); at != std::ranges::end(futures); ++at) ++count;
    counter_->expect(count);
    for (auto& f : futures) count_at_end(f);
  }

  progress_bar(progress_bar&& other) noexcept : counter_(std::move(other.counter_)) {}
  progress_bar& operator=(progress_bar&&) = delete;
  /// Shows the last state.
  ~progress_bar() {
    if (counter_ != nullptr) counter_->close();
  }

  /// Another future (or shared_future) counts, too. Throws plait::error if it is empty.
  template <class Future>
  void watch(const Future& f) {
    counter_->expect(1);
    try {
      count_at_end(f);
    } catch (...) {
      counter_->expect(static_cast<std::size_t>(-1));
      throw;
    }
  }

  /// So many more are done.
  void advance(std::size_t count = 1) noexcept { counter_->advance(count); }

 private:
  template <class Future>
  void count_at_end(const Future& f) {
    f.add_done_callback([counter = counter_](const auto&) { counter->advance(1); });
  }

  std::shared_ptr<detail::progress_counter> counter_;
};

}  // namespace plait
