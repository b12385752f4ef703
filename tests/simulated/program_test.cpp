// SPDX-License-Identifier: BSL-1.0
#include "program.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <utility>

// The program: a task does a few random things, most of which start other tasks. Each is numbered when it is
// submitted, and what becomes of it is written down. All run in one thread, so plain variables will do.

namespace random_program {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

struct task_record {
  int run = 0;             ///< in which it was submitted
  int executed = 0;        ///< how often
  bool cancelled = false;  ///< it may not be executed
  bool awaited = false;    ///< somebody waits for its end
  bool ended = false;      ///< and has seen it
  int callbacks = 0;       ///< that are missing
};

struct record {
  plait::net::simulated_world* world = nullptr;
  std::uint64_t seed = 0;
  int run = 0;           ///< the present one
  bool running = false;  ///< no rank has left it
  int most_tasks = 0;
  std::vector<task_record> tasks;
  std::vector<std::string> broken;
  nanoseconds last{};   ///< when something happened last
  int unobserved = 0;   ///< exceptions that should reach the handler
  int spmd_bodies = 0;  ///< that should run, less those that have
};
record now;

void complain(std::string what) {
  if (now.broken.size() < 20) now.broken.push_back(std::move(what));
}

int new_task() {
  task_record t;
  t.run = now.run;
  now.tasks.push_back(t);
  if (!now.running) complain("a task was submitted after a rank had left the run");
  return static_cast<int>(now.tasks.size()) - 1;
}
task_record& at(int id) { return now.tasks[static_cast<std::size_t>(id)]; }

void touch() {
  now.last = now.world->time();
  if (!now.running) complain("something ran after a rank had left the run");
}
void begin(int id) {
  touch();
  auto& t = at(id);
  ++t.executed;
  if (t.run != now.run) complain("task " + std::to_string(id) + " of run " + std::to_string(t.run) + " ran in another");
  if (t.cancelled) complain("task " + std::to_string(id) + " ran after cancel had said that it would not");
}

int answer(int id) { return 3 * id + 1; }

plait::task<int> node(int id, int depth);
int leaf(int id);
int thrower(int id);
std::vector<int> carrier(int id, std::vector<int> data);
int blocking_node(int id, int depth);
int where(int id, int rank, int worker);
void visit(int run);

plait::placement random_place(dice& d) {
  switch (d.below(8)) {
    case 0:
      return plait::here;
    case 1:
      return plait::cyclic;
    case 2:
      return plait::on_rank(d.below(plait::size()));
    case 3:
      return plait::prefer_rank(d.below(plait::size()));
    case 4:
      return plait::on_worker(d.below(plait::num_workers()));
    case 5:
      return plait::prefer_worker(d.below(plait::num_workers()));
    default:
      return plait::anywhere;
  }
}

template <class T>
void add_callback(plait::future<T>& f, int id) {
  ++at(id).callbacks;
  f.add_done_callback([id](const plait::future<T>& done) {
    touch();
    --at(id).callbacks;
    if (!done.done()) complain("a callback's future is not done");
  });
}

/// Awaits a task that gives the answer for its number.
plait::task<void> expect_answer(plait::future<int> f, int id) {
  at(id).awaited = true;
  const int got = co_await f;
  at(id).ended = true;
  touch();
  if (got != answer(id)) complain("task " + std::to_string(id) + " gave a wrong result");
}

plait::task<void> do_something(int id, int depth, dice& d, std::vector<std::pair<int, plait::future<int>>>& pending) {
  const bool grow = depth > 0 && static_cast<int>(now.tasks.size()) < now.most_tasks;
  switch (grow ? d.below(16) : d.below(3)) {
    case 0:
      plait::charge(nanoseconds(d.below(200'000)));
      break;
    case 1:
      plait::charge(nanoseconds(d.below(3'000)));
      break;
    case 2:
      co_await plait::yield();
      break;
    case 3:
    case 4:
    case 5: {  // some children, awaited later
      for (int n = 1 + d.below(6); n > 0; --n) {
        const int child = new_task();
        const auto place = random_place(d);
        pending.emplace_back(
            child, d.chance(2) ? plait::submit<node>(place, child, depth - 1) : plait::submit<leaf>(place, child));
        at(child).awaited = true;
        if (d.chance(3)) add_callback(pending.back().second, child);
      }
      break;
    }
    case 6: {  // a detached one
      const int child = new_task();
      auto f = plait::submit<node>(random_place(d), child, depth - 1);
      if (d.chance(2)) add_callback(f, child);
      break;
    }
    case 7: {  // one that fails
      const int child = new_task();
      auto f = plait::submit<thrower>(random_place(d), child);
      if (d.chance(3)) {
        ++now.unobserved;
        break;
      }
      try {
        co_await f;
        complain("the exception of task " + std::to_string(child) + " has got lost");
      } catch (const std::out_of_range& e) {
        if (e.what() != std::to_string(child)) complain("an exception came from another task");
      }
      break;
    }
    case 8: {  // one that is cancelled, perhaps too late
      const int child = new_task();
      auto f = plait::submit<leaf>(random_place(d), child);
      if (d.chance(2)) plait::charge(nanoseconds(d.below(30'000)));
      if (f.cancel()) {
        at(child).cancelled = true;
        if (at(child).executed != 0) complain("cancel stopped a task that had run");
        if (!f.cancelled()) complain("a cancelled task does not say so");
        break;
      }
      try {  // it has begun, or has gone to another rank, where the request may come in time
        co_await expect_answer(std::move(f), child);
      } catch (const plait::cancelled_error&) {
        at(child).ended = at(child).cancelled = true;
        if (at(child).executed != 0) complain("a task that had run was cancelled");
      }
      break;
    }
    case 9: {  // data both ways
      std::vector<int> data(static_cast<std::size_t>(d.below(3) == 0 ? d.below(20'000) : d.below(50)), id);
      const int child = new_task();
      at(child).awaited = true;
      const auto back = co_await plait::submit<carrier>(random_place(d), child, data);
      at(child).ended = true;
      if (back != data) complain("a vector came back changed");
      break;
    }
    case 10: {  // a plain function that waits by blocking
      const int child = new_task();
      pending.emplace_back(child, plait::submit<blocking_node>(random_place(d), child, depth - 1));
      at(child).awaited = true;
      break;
    }
    case 11: {
      if (d.chance(2)) {
        co_await plait::enable_stealing();
      } else {
        co_await plait::disable_stealing();
      }
      break;
    }
    case 12: {  // forks
      const int child = new_task();
      auto f = co_await plait::fork(node(child, depth - 1));
      co_await expect_answer(std::move(f), child);
      break;
    }
    case 13:
      if (!d.chance(4)) break;
      now.spmd_bodies += plait::size();
      co_await plait::spmd<visit>(now.run);
      break;
    case 14: {  // placements that bind
      const int rank = d.below(plait::size());
      const int worker = d.below(plait::num_workers());
      const int first = new_task();
      auto f = plait::submit<where>(plait::on_rank(rank), first, rank, -1);
      const int second = new_task();
      auto g = plait::submit<where>(plait::on_worker(worker), second, -1, worker);
      co_await expect_answer(std::move(f), first);
      co_await expect_answer(std::move(g), second);
      break;
    }
    default:
      co_await plait::sleep_for(nanoseconds(d.below(100'000)));
      break;
  }
  touch();
}

plait::task<int> node(int id, int depth) {
  begin(id);
  dice d(now.seed * 1'000'003 + static_cast<std::uint64_t>(id));
  std::vector<std::pair<int, plait::future<int>>> pending;
  // Those near the root start more.
  for (int n = 1 + d.below(2 + depth); n > 0; --n) co_await do_something(id, depth, d, pending);
  if (d.chance(6)) co_await plait::wait_children();
  for (auto& [child, f] : pending) co_await expect_answer(std::move(f), child);
  co_return answer(id);
}

int leaf(int id) {
  begin(id);
  plait::charge(nanoseconds(id % 7 * 5'000));
  touch();
  return answer(id);
}

int thrower(int id) {
  begin(id);
  throw std::out_of_range(std::to_string(id));
}

std::vector<int> carrier(int id, std::vector<int> data) {
  begin(id);
  return data;
}

int where(int id, int rank, int worker) {
  begin(id);
  if (rank >= 0 && plait::rank() != rank) complain("on_rank did not bind");
  if (worker >= 0 && plait::worker_id() != worker) complain("on_worker did not bind");
  return answer(id);
}

int blocking_node(int id, int depth) {
  begin(id);
  dice d(now.seed * 1'000'003 + static_cast<std::uint64_t>(id));
  for (int n = d.below(3); n > 0; --n) {
    const int child = new_task();
    at(child).awaited = true;
    auto f = depth > 0 && d.chance(2) ? plait::submit<blocking_node>(random_place(d), child, depth - 1)
                                      : plait::submit<leaf>(random_place(d), child);
    if (f.get() != answer(child)) complain("a blocking wait gave a wrong result");
    at(child).ended = true;
  }
  touch();
  return answer(id);
}

void visit(int run) {
  touch();
  --now.spmd_bodies;
  if (run != now.run) complain("an spmd body ran in another run");
}

/// After a run, on the first rank that has left it.
void check_end(int seen_unobserved, nanoseconds slack) {
  for (std::size_t i = 0; i < now.tasks.size(); ++i) {
    const auto& t = now.tasks[i];
    const auto name = "task " + std::to_string(i);
    if (t.executed != (t.cancelled ? 0 : 1)) complain(name + " was executed " + std::to_string(t.executed) + " times");
    if (t.awaited && !t.ended) complain("the end of " + name + " was not seen");
    if (t.callbacks != 0) complain("callbacks of " + name + " did not run once");
  }
  if (now.spmd_bodies != 0) complain("spmd bodies did not run once on each rank");
  if (seen_unobserved != now.unobserved) complain("the handler of unobserved exceptions was not called once for each");
  if (now.world->time() - now.last > slack) {
    complain("the end came " + std::to_string((now.world->time() - now.last).count()) + " ns after all had ended");
  }
}

}  // namespace

outcome run(std::uint64_t seed, const std::function<void(plait::net::simulated_world&)>& disturb,
            std::chrono::nanoseconds limit) {
  dice d(seed);
  const int ranks = 1 + d.below(d.chance(4) ? 17 : 6);
  const int workers = 1 + d.below(3);
  plait::net::simulated_network network;
  network.latency = nanoseconds(d.chance(4) ? 50'000 : 200 + d.below(5'000));
  network.bytes_per_second = d.chance(3) ? 1e8 : 1e10;
  network.jitter = nanoseconds(d.chance(2) ? 0 : d.below(20'000));
  network.wake = nanoseconds(d.chance(2) ? 0 : d.below(20'000));
  network.ranks_per_host = 1 + d.below(3);
  network.limit = limit;
  const int runs = 1 + d.below(3);
  const auto hop = network.latency + network.jitter + network.wake + network.wake;
  // The progress thread naps for up to a millisecond, and waves go up and down the tree a few times.
  const auto slack = std::chrono::milliseconds(3) + 60 * hop;

  plait::net::simulated_world world(ranks, seed, network);
  if (disturb) disturb(world);
  now = {};
  now.world = &world;
  now.seed = seed;
  int unobserved = 0;
  auto before = plait::set_unobserved_exception_handler([&](std::exception_ptr, std::string_view) { ++unobserved; });
  try {
    world.run([&](plait::net::transport& transport) {
      plait::options o;
      o.workers = workers;
      plait::runtime rt(transport, o);
      dice own(seed + 17);
      for (int r = 1; r <= runs; ++r) {
        const bool all = own.chance(3);
        const int depth = 2 + own.below(6);
        const int more = own.below(600);
        transport.barrier();
        if (!now.running) {
          now.run = r;
          now.running = true;
          now.most_tasks = static_cast<int>(now.tasks.size()) + more;
          now.last = world.time();
        }
        transport.barrier();
        const auto root = [&]() -> plait::task<int> {
          const int id = new_task();
          return node(id, depth);
        };
        if (all) {
          rt.run_all(root());
        } else {
          rt.run(root);
        }
        if (std::exchange(now.running, false)) check_end(unobserved, slack);
      }
    });
    if (world.undelivered() != 0) complain("frames were left that no rank has received");
  } catch (const std::exception& e) {
    complain(e.what());
  }
  plait::set_unobserved_exception_handler(std::move(before));
  return {std::move(now.broken), world.digest(), world.events(), static_cast<long>(now.tasks.size())};
}

}  // namespace random_program
