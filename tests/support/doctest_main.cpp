// SPDX-License-Identifier: BSL-1.0

// doctest itself, and a listener that gives every case a time limit and names what a case that hangs was waiting for.

#define DOCTEST_CONFIG_IMPLEMENT
#include "doctest_main.hpp"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <mutex>
#include <optional>

#include "waiting.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PLAIT_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PLAIT_TEST_SANITIZED 1
#endif
#endif
#ifndef PLAIT_TEST_SANITIZED
#define PLAIT_TEST_SANITIZED 0
#endif

namespace plait_test {

int rank_in_environment() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    if (const char* value = std::getenv(name)) return std::atoi(value);
  }
  return -1;
}

std::chrono::seconds time_limit() {
  if (const char* value = std::getenv("PLAIT_TEST_TIME_LIMIT")) {
    if (const long seconds = std::atol(value); seconds > 0) return std::chrono::seconds(seconds);
  }
  return std::chrono::seconds(PLAIT_TEST_SANITIZED ? 300 : 60);
}

namespace {

using clock = std::chrono::steady_clock;

/// One thread that sleeps until the running case's time is over. Made with the first case, ended with the run.
class watchdog {
 public:
  ~watchdog() { end(); }

  void start(std::string what, const char* file, int line) {
    std::lock_guard lock(mutex_);
    what_ = std::move(what);
    file_ = file;
    line_ = line;
    until_ = clock::now() + time_limit();
    if (!thread_.joinable()) thread_ = std::thread([this] { watch(); });
    changed_.notify_one();
  }

  void stop() {
    std::lock_guard lock(mutex_);
    until_.reset();
    changed_.notify_one();
  }

  void end() {
    {
      std::lock_guard lock(mutex_);
      until_.reset();
      ending_ = true;
      changed_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
    ending_ = false;
  }

  std::list<std::string>::iterator add_wait(std::string_view what) {
    std::lock_guard lock(mutex_);
    return waits_.emplace(waits_.end(), what);
  }

  void remove_wait(std::list<std::string>::iterator it) {
    std::lock_guard lock(mutex_);
    waits_.erase(it);
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!ending_) {
      if (!until_) {
        changed_.wait(lock);
      } else if (clock::now() >= *until_) {
        expire();
      } else {
        changed_.wait_until(lock, clock::time_point(*until_));
      }
    }
  }

  [[noreturn]] void expire() {
    std::string text = "\ntime limit of " + std::to_string(time_limit().count()) + " s reached";
    if (const int rank = rank_in_environment(); rank >= 0) text += " on rank " + std::to_string(rank);
    text += " in: " + what_ + "\n  at " + std::string(file_) + ":" + std::to_string(line_) + "\n";
    for (const std::string& wait : waits_) text += "  it waits for: " + wait + "\n";
    if (waits_.empty()) text += "  (it named nothing that it waits for: use wait_until or waiting_for)\n";
    std::fputs(text.c_str(), stderr);
    std::fflush(nullptr);
    std::signal(SIGABRT, SIG_DFL);  // doctest's own handler would report from this thread
    std::abort();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
  std::string what_;
  const char* file_ = "";
  int line_ = 0;
  std::optional<clock::time_point> until_;
  std::list<std::string> waits_;
  bool ending_ = false;
};

watchdog& the_watchdog() {
  static watchdog dog;
  return dog;
}

/// Starts and stops the clock with each case; names the rank beside a failure where there are several.
struct time_limit_listener : doctest::IReporter {
  explicit time_limit_listener(const doctest::ContextOptions&) {}

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override { the_watchdog().end(); }
  void test_case_start(const doctest::TestCaseData& data) override {
    start_clock(data.m_name, data.m_file.c_str(), static_cast<int>(data.m_line));
  }
  void test_case_reenter(const doctest::TestCaseData& data) override { test_case_start(data); }
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    stop_clock();
    if (stats.failure_flags != 0 && rank_in_environment() >= 0) {
      std::fprintf(stderr, "the failure above is on rank %d\n", rank_in_environment());
    }
  }
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

REGISTER_LISTENER("time limit", 1, time_limit_listener);

}  // namespace

void start_clock(std::string what, const char* file, int line) { the_watchdog().start(std::move(what), file, line); }
void stop_clock() { the_watchdog().stop(); }

waiting_for::waiting_for(std::string_view what)
    : entry_(new std::list<std::string>::iterator(the_watchdog().add_wait(what))) {}

waiting_for::~waiting_for() {
  auto* entry = static_cast<std::list<std::string>::iterator*>(entry_);
  the_watchdog().remove_wait(*entry);
  delete entry;
}

int run_tests(int argc, char** argv) {
  doctest::Context context(argc, argv);
  if (rank_in_environment() > 0) context.setOption("minimal", true);  // the other ranks speak only of failures
  return context.run();
}

}  // namespace plait_test
