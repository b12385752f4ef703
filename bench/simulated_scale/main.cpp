// SPDX-License-Identifier: BSL-1.0
// How far the stealing between ranks carries, in virtual time: the library's own code for up to thousands of ranks in
// one thread (plait/net/simulated.hpp). A bag of lognormal tasks that all begin on rank 0, and Unbalanced Tree Search,
// a task a node. Nothing here depends on the machine but real_s and rank_kib.
//
//   bench_simulated_scale [--ranks 16,64,256,1024] [--only bag,uts1,uts3] [--workers 1] [--work_ms 1000]
//                         [--task_us 1000] [--latency_ns 2000] [--megabytes_s 10000] [--wake_ns N] [--seed 1] [--json]
#include "../support/arguments.hpp"
#include "../support/in_child.hpp"
#include "../support/report.hpp"
#include "problem.hpp"

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ',') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

scale::problem problem_of(const std::string& name) {
  if (name == "bag") return scale::problem::bag;
  if (name == "uts1") return scale::problem::uts1;
  if (name == "uts3") return scale::problem::uts3;
  throw std::invalid_argument("--only takes bag, uts1 and uts3, not '" + name + "'");
}

void measure(int argc, char** argv) {
  bench::arguments args(argc, argv);
  scale::machine m{};
  const auto ranks = split(args.text("--ranks", "16,64,256,1024"));
  const auto problems = split(args.text("--only", "bag,uts1"));
  m.workers = args.number("--workers", 1);
  m.seconds = args.number("--work_ms", 1000) * 1e-3;
  m.task_seconds = args.number("--task_us", 1000) * 1e-6;
  m.latency = args.number("--latency_ns", 2000) * 1e-9;
  m.bandwidth = args.number("--megabytes_s", 10000) * 1e6;
  m.wake = std::stod(args.text("--wake_ns", "0")) * 1e-9;
  m.seed = static_cast<std::uint64_t>(args.number("--seed", 1));
  const bool json = args.flag("--json");
  args.done(
      "--ranks A,B, --only bag,uts1,uts3, --workers, --work_ms, --task_us, --latency_ns, --megabytes_s, --wake_ns, "
      "--seed, --json");

  bench::report out("simulated_scale", json);
  for (const auto& name : problems) {
    m.what = problem_of(name);
    for (const auto& n : ranks) {
      m.ranks = std::stoi(n);
      const auto o = bench::from_child([&m] { return scale::simulate(m); });
      if (!o.right) throw std::runtime_error("not every task was executed once");
      out.add({{"problem", name},
               {"ranks", static_cast<long>(m.ranks)},
               {"tasks", o.tasks},
               {"efficiency", o.efficiency, 3},
               {"distribute_ms", o.distributed * 1e3, 2},
               {"end_ms", o.ended * 1e3, 3},
               {"frames_a_task", o.frames_a_task, 2},
               {"idle_frames_a_s", o.idle_frames, 2},
               {"rank_kib", o.rank_kib, 1},
               {"real_s", o.real_seconds, 1}});
    }
  }
  out.print();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    measure(argc, argv);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_simulated_scale: %s\n", e.what());
    return 1;
  }
}
