// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/fifo.hpp>
#include <plait/base/futex.hpp>
#include <plait/net/doorbell.hpp>
#include <plait/net/host.hpp>
#include <plait/net/transport.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

PLAIT_INTERFACE

namespace plait::net {

/// The transport of a program that is its only rank: what it sends comes back to it. Needs no MPI.
class solo_transport final : public transport {
 public:
  int rank() const noexcept override { return 0; }
  int size() const noexcept override { return 1; }

  void send(int dest, frame&& bytes) override {
    if (bytes.empty()) throw error("plait: an empty frame cannot be sent");
    if (dest != 0) throw error("plait: there is no rank " + std::to_string(dest) + " among 1");
    sent_.push_back(std::move(bytes));
    waiting_.store(true);
  }

  int poll(frame_handler handler) override {
    const auto count = static_cast<int>(sent_.size());  // the handler may send more
    for (int i = 0; i < count; ++i) {
      const frame bytes = sent_.pop_front();
      if (sent_.empty()) waiting_.store(false);
      handler(0, bytes);  // may throw: the rest is for the next poll
    }
    return count;
  }

  bool sends_pending() const noexcept override { return false; }

  std::uint64_t prepare_sleep() noexcept override { return bell_.prepare(); }
  void sleep(std::uint64_t ticket, std::chrono::nanoseconds at_most) noexcept override {
    if (!waiting_.load()) bell_.wait(static_cast<std::uint32_t>(ticket), at_most, base::futex_scope::process);
  }
  void wake() noexcept override { bell_.ring(base::futex_scope::process); }

  void broadcast(std::vector<std::byte>&, int) override {}
  std::vector<std::int64_t> gather_all(std::int64_t value) override { return {value}; }
  void barrier() override {}
  bool try_barrier(std::chrono::nanoseconds) override { return true; }

  int host_of(int) const override { return 0; }
  std::string_view host_name() const noexcept override { return host_name_; }
  bool crowded() const noexcept override { return false; }

 private:
  base::fifo<frame> sent_;
  base::atomic<bool> waiting_{false};  // whether there are some; for the sleeper, who may not look
  doorbell bell_;
  const std::string host_name_ = this_host_name();
};

}  // namespace plait::net
