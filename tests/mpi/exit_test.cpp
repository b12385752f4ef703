// SPDX-License-Identifier: BSL-1.0

// A process that calls exit, or leaves by an exception, or comes late, or whose tasks take long, while others wait for
// it. Started without a launcher it starts itself with one, on two ranks, in several ways, and looks at how the job
// ends and what is said.

// ranks: 0

#include <plait/plait.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "../support/doctest_main.hpp"
#include "../support/waiting.hpp"

namespace {

plait::task<void> nothing() { co_return; }
plait::task<void> exits_on_rank_1() {
  co_await plait::submit(plait::on_rank(1), [] { std::exit(0); });
}

plait::task<void> sleeper() { co_await plait::sleep_for(std::chrono::seconds(1)); }
plait::task<void> waits_for_sleepers() {
  auto one = plait::submit<sleeper>(plait::on_rank(1));
  auto other = plait::submit<sleeper>(plait::on_rank(1));
  co_await one;
  co_await other;
}

plait::task<void> waits_for_message() {
  auto late = plait::submit(plait::on_rank(1), []() -> plait::task<void> {
    co_await plait::sleep_for(std::chrono::seconds(1));
    const int seven = 7;
    MPI_Send(&seven, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  });
  int number = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
  co_await plait::mpi::wait(request);
  co_await late;
}

plait::task<void> waits_for_computing() {
  co_await plait::submit(plait::on_rank(1), [] { plait::base::nap(std::chrono::seconds(1)); });
}

/// What a run says in which nothing happens for long, or something does.
int stalled(const std::string& how, int argc, char** argv) {
  plait::options soon;
  soon.stall_warn = 0.2;
  if (how == "stalled single") {
    MPI_Init(&argc, &argv);
    plait::runtime(MPI_COMM_WORLD, soon).run(waits_for_sleepers());
    MPI_Finalize();
    return 0;
  }
  plait::runtime rt(argc, argv, soon);
  if (how == "stalled") rt.run(waits_for_sleepers());
  if (how == "stalled in MPI") rt.run(waits_for_message());
  if (how == "not stalled") rt.run(waits_for_computing());
  return 0;
}

/// PLAIT_MPI=0 for one rank of two: the other waits until this one has gone, or for ever.
int alone_on_one_rank(int argc, char** argv) {
  ::setenv("PLAIT_STALL_WARN", "0.2", 1);
  if (plait_test::rank_in_environment() == 1) {
    ::setenv("PLAIT_MPI", "0", 1);
    plait::runtime rt(argc, argv);
    plait::base::nap(std::chrono::seconds(1));
    return 1;
  }
  plait::runtime rt(argc, argv);
  return 0;
}

int as_rank(const std::string& how, int argc, char** argv) {
  if (how.find("stalled") != how.npos) return stalled(how, argc, argv);
  if (how == "alone") return alone_on_one_rank(argc, argv);
  if (how == "forgotten") {  // all ranks end in the same way, and MPI has ended before
    MPI_Init(&argc, &argv);
    auto* rt = new plait::runtime(MPI_COMM_WORLD);
    rt->run(nothing());
    MPI_Finalize();
    std::exit(0);
  }
  if (how == "unwound" || how == "all unwound") {
    try {
      const plait::environment e(argc, argv);
      int rank = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      if (rank == 0 || how == "all unwound") throw std::runtime_error("an argument is wrong");
      plait::runtime rt;
    } catch (const std::runtime_error&) {
    }
    return 0;
  }
  if (how == "late") {
    const plait::environment e(argc, argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) plait::base::nap(std::chrono::milliseconds(200));
    const auto c = plait::net::communicator::duplicate(MPI_COMM_WORLD, "late", std::chrono::milliseconds(20));
    return c.size() == 2 ? 0 : 1;
  }
  plait::runtime rt(argc, argv);
  rt.run(nothing());
  if (how == "between" && rt.rank() == 1) std::exit(0);
  if (how == "during") rt.run(exits_on_rank_1());
  rt.run(nothing());
  return 0;
}

int failures = 0;

/// A path as one word of the shell: a checkout may be in a folder whose name has spaces.
std::string quoted(const std::string& path) {
  std::string word = "'";
  for (const char c : path) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

const char* const silence = "nothing from plait";

enum class end { well, badly, perhaps_never };

void check(const std::string& how, end wanted, const std::string& text) {
#ifdef OPEN_MPI
  const std::string flavour = "openmpi";
  const bool hears_last_words = true;
#else
  const std::string flavour = "mpich";
  const bool hears_last_words = false;  // its launcher may drop what is said just before MPI_Abort
#endif
  std::string folder = __FILE__;
  folder.erase(folder.rfind("tests/mpi/"));
  char self[4096] = {};
  if (::readlink("/proc/self/exe", self, sizeof self - 1) < 0) ++failures;
  const bool may_stay = wanted == end::perhaps_never;
  const auto command = std::string("exec timeout ") + (may_stay ? "5" : "60") + " sh " +
                       quoted(folder + "tests/support/mpirun.sh") + " " + flavour + " 2 " + quoted(self) + " " +
                       quoted(how) + " 2>&1";
  std::string said;
  std::FILE* out = ::popen(command.c_str(), "r");
  for (int c = std::fgetc(out); c != EOF; c = std::fgetc(out)) said += static_cast<char>(c);
  const int status = ::pclose(out);
  const bool said_why = text == silence ? said.find("plait") == std::string::npos
                                        : said.find(text) != std::string::npos || !(hears_last_words || may_stay);
  if ((status == 0) == (wanted == end::well) && said_why && (status != 124 * 256 || may_stay)) return;
  std::fprintf(stderr, "exit_test, %s: status %d, and this was said:\n%s\n", how.c_str(), status, said.c_str());
  ++failures;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return as_rank(argv[1], argc, argv);
  plait_test::start_clock("jobs in which a rank ends early, or comes late", __FILE__, __LINE__);
  check("not", end::well, "");
  check("during", end::badly, "in the middle of a run");
  check("between", end::badly, "while a runtime lives");
  check("forgotten", end::well, "");
  check("unwound", end::badly, "leaves the scope of an environment");
  check("all unwound", end::well, "");
  check("alone", end::perhaps_never, "MPI_Init_thread waits for other ranks");
  check("late", end::well, "waits for other ranks");
  check("stalled", end::well, "waited for from other ranks: 2 (2 x ");
  check("stalled", end::well, "here for other ranks: 2 (2 x ");
  check("stalled", end::well, "suspended at timers, promises or sync objects: 2");
  check("stalled single", end::well, "suspended at timers, promises or sync objects: 2");
  check("stalled in MPI", end::well, "calls of native MPI awaited: 1 (1 x mpi::wait)");
  check("not stalled", end::well, silence);
  plait_test::stop_clock();
  return failures == 0 ? 0 : 1;
}
