// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/dist/stall_report.hpp>

#include <array>
#include <memory>
#include <string>
#include <typeinfo>

namespace dist = plait::dist;
namespace wire = plait::wire;

namespace {

struct waiting final : dist::awaiting_reply {
  explicit waiting(const wire::registry_entry& what) : what_(what) {}
  void accept(wire::reader&, const dist::result_head&) noexcept override {}
  void finish(plait::sched::worker&) noexcept override {}
  const wire::registry_entry& called() const noexcept override { return what_; }

 private:
  const wire::registry_entry& what_;
};

struct request final : dist::pollable {
  explicit request(const char* name) : name_(name) {}
  bool test() noexcept override { return false; }
  void resume() noexcept override {}
  const char* call() const noexcept override { return name_; }

 private:
  const char* name_;
};

std::string report(dist::slot_table& awaited, const dist::pollables& requests, bool unfinished = true) {
  dist::visitors hosted;
  plait::pool workers({.workers = 1});
  return dist::stall_report(3, std::chrono::milliseconds(1500), {awaited, hosted, requests, workers}, unfinished)
      .c_str();
}
std::string report(dist::slot_table& awaited) { return report(awaited, dist::pollables()); }

template <int N>
struct kind {};

}  // namespace

TEST_CASE("a stall report counts tasks by what they call") {
  const wire::registry_entry a(typeid(kind<0>).name(), nullptr);
  const wire::registry_entry b(typeid(kind<1>).name(), nullptr);
  waiting first(a);
  waiting second(b);
  waiting third(a);
  dist::slot_table slots;
  slots.add(first);
  const auto left = slots.add(second);
  slots.add(third);
  const auto both = report(slots);
  CHECK(both.find("plait: rank 3: ") == 0);
  CHECK(both.find("for 1.5 s") != both.npos);
  CHECK(both.find("waited for from other ranks: 3 (2 x " + a.name() + ", 1 x " + b.name() + ")\n") != both.npos);
  slots.remove(left);
  CHECK(report(slots).find(": 2 (2 x " + a.name() + ")\n") != std::string::npos);
}

TEST_CASE("a stall report names a few callables only") {
  dist::slot_table slots;
  const std::array<wire::registry_entry, 8> entries{{{typeid(kind<2>).name(), nullptr},
                                                     {typeid(kind<3>).name(), nullptr},
                                                     {typeid(kind<4>).name(), nullptr},
                                                     {typeid(kind<5>).name(), nullptr},
                                                     {typeid(kind<6>).name(), nullptr},
                                                     {typeid(kind<7>).name(), nullptr},
                                                     {typeid(kind<8>).name(), nullptr},
                                                     {typeid(kind<9>).name(), nullptr}}};
  std::array<std::unique_ptr<waiting>, 8> all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = std::make_unique<waiting>(entries[i]);
    slots.add(*all[i]);
  }
  const auto text = report(slots);
  CHECK(text.find(": 8 (1 x ") != text.npos);
  CHECK(text.find("1 x " + entries[5].name() + ", and others)\n") != text.npos);
  CHECK(text.find("1 x " + entries[6].name()) == text.npos);
}

TEST_CASE("a stall report counts native requests by the call that awaits them") {
  static const char wait[] = "mpi::wait";
  request first(wait);
  request second(wait);
  request third("MPI_Ibarrier");
  dist::pollables requests;
  for (auto* r : {&first, &second, &third}) requests.add(*r);
  dist::slot_table slots;
  CHECK(report(slots, requests).find("calls of native MPI awaited: 3 (2 x mpi::wait, 1 x MPI_Ibarrier)\n") !=
        std::string::npos);
}

TEST_CASE("a rank without tasks says that it waits for the others") {
  dist::slot_table slots;
  CHECK(report(slots, dist::pollables(), false).find("has no tasks: it waits for the others\n") != std::string::npos);
}

TEST_CASE("a stall report without tasks at other ranks, timers or sync objects says what is left") {
  dist::slot_table slots;
  CHECK(report(slots).find("at something else: a call in blocking()") != std::string::npos);
}
