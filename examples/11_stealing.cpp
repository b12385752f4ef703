// SPDX-License-Identifier: BSL-1.0
// Stealing between ranks: 16 tasks of 100 ms all start in the queue of rank 1, and ranks that have nothing to do take
// some of them. Pinned to rank 1 with on_rank, or with stealing switched off, rank 1 runs them all. The program shows
// who ran what in each mode, or in the one that is named.
//
//   mpirun -n 4 ./11_stealing [stealing|pinned|off]
//
// expect: stealing: 16 tasks of 100 ms took [0-9.]+ s, their sum is 1\.6 s; .*
// expect: pinned: 16 tasks of 100 ms took [0-9.]+ s, their sum is 1\.6 s; .*
// expect: off: 16 tasks of 100 ms took [0-9.]+ s, their sum is 1\.6 s; .*
// expect on 1: .*; rank 0 ran 16
// expect on 2: .*; rank 0 ran 0, rank 1 ran 16
// expect on 4: .*; rank 0 ran 0, rank 1 ran 16, rank 2 ran 0, rank 3 ran 0
#include <plait/plait.hpp>

#include <chrono>
#include <cstdio>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

/// Keeps its worker busy, as a long computation would, and says which rank ran it.
int nap(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  return plait::rank();
}

/// Runs the tasks in one mode and shows who ran what. True if that is as the mode says.
plait::task<bool> demonstrate(std::string mode) {
  const int tasks = 16;
  const int target = plait::size() > 1 ? 1 : 0;
  if (mode == "off") co_await plait::disable_stealing();  // on every rank, from here on

  const double start = plait::wtime();
  std::vector<plait::future<int>> naps;
  for (int i = 0; i < tasks; ++i) {
    if (mode == "pinned") {
      naps.push_back(plait::submit<nap>(plait::on_rank(target), 100));  // there and nowhere else
    } else {
      naps.push_back(plait::submit<nap>(plait::prefer_rank(target), 100));  // starts there, thieves may take it
    }
  }
  std::vector<int> ran(static_cast<std::size_t>(plait::size()));
  for (plait::future<int>& n : naps) {
    const int where = co_await n;
    ++ran.at(static_cast<std::size_t>(where));
  }
  const double seconds = plait::wtime() - start;
  if (mode == "off") co_await plait::enable_stealing();

  std::printf("%s: %d tasks of 100 ms took %.2f s, their sum is 1.6 s;", mode.c_str(), tasks, seconds);
  for (int r = 0; r < plait::size(); ++r) {
    std::printf("%s rank %d ran %d", r == 0 ? "" : ",", r, ran[static_cast<std::size_t>(r)]);
  }
  std::printf("\n");
  const int there = ran[static_cast<std::size_t>(target)];
  if (std::accumulate(ran.begin(), ran.end(), 0) != tasks) co_return false;
  if (mode == "stealing" && plait::size() > 1) co_return there < tasks&& seconds < 0.75 * 1.6;
  co_return there == tasks;
}

plait::task<int> program(int argc, char** argv) {
  std::vector<std::string> modes = {"stealing", "pinned", "off"};
  if (argc > 1) modes.assign(1, argv[1]);
  for (const std::string& mode : modes) {
    if (mode != "stealing" && mode != "pinned" && mode != "off") {
      std::fprintf(stderr, "11_stealing: unknown mode '%s'; use stealing, pinned or off\n", mode.c_str());
      co_return 2;
    }
    const bool good = co_await demonstrate(mode);
    if (!good) {
      std::fprintf(stderr, "wrong: this is not what the mode '%s' should do\n", mode.c_str());
      co_return 1;
    }
  }
  co_return 0;
}

int main(int argc, char** argv) { return plait::launch<program>(argc, argv); }
