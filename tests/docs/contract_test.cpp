// SPDX-License-Identifier: BSL-1.0

// The programs in docs/contract.md. What is safe is run here; what is unsafe is only compiled. The page quotes the
// parts between `// docs: NAME` and `// docs: end` (check.py).
#include <doctest/doctest.h>

#include <plait/plait.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../support/loopback_ranks.hpp"

namespace {
plait::task<void> step() { co_await plait::yield(); }
}  // namespace

// ---- who owns what --------------------------------------------------------------------------------------------------

namespace reference_parameters {
plait::task<std::size_t> count_words(const std::string& text) {
  co_await plait::yield();
  co_return text.empty() ? 0 : 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), ' '));
}

// docs: reference parameters
plait::task<std::size_t> unsafe() {
  auto words = count_words(std::string("gone at the semicolon"));  // the string ends here; nothing has run yet
  co_return co_await words;                                        // reads it
}

plait::task<std::size_t> safe() {
  co_return co_await count_words(std::string("alive until the end of the expression"));
}

plait::task<std::size_t> also_safe() {
  auto words = plait::spawn(count_words, std::string("spawn, fork and submit keep copies"));
  co_return co_await words;
}
// docs: end
}  // namespace reference_parameters

TEST_CASE("docs: reference parameters") {
  CHECK(plait::sync_wait(reference_parameters::safe()) == 7);
  CHECK(plait::sync_wait(reference_parameters::also_safe()) == 6);
  static_cast<void>(&reference_parameters::unsafe);
}

namespace lambda_captures {
// docs: lambda captures
plait::future<int> unsafe(int k) {
  return plait::spawn([k]() -> plait::task<int> {
    co_await plait::yield();
    co_return k;  // k is part of the lambda, which ended with the statement below
  }());
}

plait::future<int> safe(int k) {
  return plait::spawn([k]() -> plait::task<int> {
    co_await plait::yield();
    co_return k;
  });  // no (): spawn keeps the lambda until its coroutine has ended
}

plait::future<int> also_safe(int k) {
  return plait::spawn([](int n) -> plait::task<int> {
    co_await plait::yield();
    co_return n;
  }(k));  // parameters lie in the coroutine's frame, captures do not
}
// docs: end
}  // namespace lambda_captures

TEST_CASE("docs: lambda captures") {
  CHECK(lambda_captures::safe(3).get() == 3);
  CHECK(lambda_captures::also_safe(4).get() == 4);
  static_cast<void>(&lambda_captures::unsafe);
}

// ---- forks are structured -------------------------------------------------------------------------------------------

namespace structured {
// docs: structured forks
plait::task<long> sum(std::span<const long> values) {
  if (values.size() < 1000) co_return std::accumulate(values.begin(), values.end(), 0L);
  const std::size_t half = values.size() / 2;
  plait::future<long> left = co_await plait::fork(sum(values.first(half)));
  const long right = co_await sum(values.subspan(half));  // if this throws, left waits for its task first
  co_return co_await left + right;
}
// docs: end

void look_at(const std::vector<long>&) {}

// docs: forks and locals
plait::task<long> unsafe() {
  plait::future<long> total;
  std::vector<long> values(5000, 1);  // declared later, so it ends earlier
  total = co_await plait::fork(sum(values));
  look_at(values);  // if this throws, values ends, and then total waits for a task that reads it
  co_return co_await total;
}

plait::task<long> also_unsafe() {
  std::vector<long> values(5000, 1);
  plait::future<long> total = plait::spawn(sum(values));
  look_at(values);  // if this throws, total detaches its task, which goes on reading values
  co_return co_await total;
}

plait::task<long> safe() {
  std::vector<long> values(5000, 1);
  plait::future<long> total = co_await plait::fork(sum(values));  // a fork, declared after what it refers to
  look_at(values);
  co_return co_await total;
}
// docs: end
}  // namespace structured

TEST_CASE("docs: forks and locals") {
  CHECK(plait::sync_wait(structured::safe()) == 5000);
  static_cast<void>(&structured::unsafe);
  static_cast<void>(&structured::also_unsafe);
}

// ---- parallel loops ------------------------------------------------------------------------------------------------

namespace parallel_loops {
// docs: parallel loops
plait::task<double> unsafe(const std::vector<double>& values) {
  double sum = 0;
  co_await plait::parallel_for(values, [&sum](double x) { sum += x; });  // several threads at once
  co_return sum;
}

plait::task<double> safe(const std::vector<double>& values) {
  const auto square = [](double x) { return x * x; };
  const auto add = [](double a, double b) { return a + b; };
  co_return co_await plait::parallel_reduce(values, 0.0, square, add, {.grain = 1000});  // 0.0: the sum has init's type
}

plait::task<void> unsafe_range() {
  plait::task<void> loop;
  {
    std::vector<double> values(1000);
    loop = plait::parallel_for(values, [](double& x) { x = 1; });  // nothing has run yet
  }
  co_await std::move(loop);  // writes to what is gone
}
// docs: end
}  // namespace parallel_loops

TEST_CASE("docs: parallel loops") {
  CHECK(plait::sync_wait(parallel_loops::safe(std::vector<double>(5000, 2.0))) == 20000);
  static_cast<void>(&parallel_loops::unsafe);
  static_cast<void>(&parallel_loops::unsafe_range);
}

// ---- what resumes where ---------------------------------------------------------------------------------------------

namespace locks {
std::mutex mutex;
int count = 0;

// docs: locks
plait::task<void> unsafe() {
  const std::lock_guard lock(mutex);
  ++count;
  co_await step();  // may go on in another thread, which then unlocks a mutex that it does not hold
}

plait::task<void> safe() {
  {
    const std::lock_guard lock(mutex);
    ++count;
  }
  co_await step();
}
// docs: end
}  // namespace locks

namespace thread_locals {
thread_local std::vector<int> scratch;
int total(const std::vector<int>& v) { return std::accumulate(v.begin(), v.end(), 0); }

// docs: thread_local
plait::task<int> unsafe() {
  std::vector<int>& mine = scratch;  // this thread's
  mine.assign({1, 2, 3});
  co_await step();
  co_return total(mine);  // in whatever thread this is now, beside the owner
}

plait::task<int> safe() {
  co_await step();
  scratch.assign({1, 2, 3});
  co_return total(scratch);  // no suspension between the two
}
// docs: end
}  // namespace thread_locals

TEST_CASE("docs: locks and thread_local") {
  plait::sync_wait(locks::safe());
  CHECK(locks::count == 1);
  CHECK(plait::sync_wait(thread_locals::safe()) == 6);
  static_cast<void>(&locks::unsafe);
  static_cast<void>(&thread_locals::unsafe);
}

// ---- waiting --------------------------------------------------------------------------------------------------------

namespace deep {
// docs: deep waits
int unsafe(int depth) {
  if (depth == 0) return 0;
  plait::future<int> below = plait::spawn([depth] { return unsafe(depth - 1); });
  return below.get() + 1;  // runs the other task on top of this one's stack: at some depth it throws plait::error
}

plait::task<int> safe(int depth) {
  if (depth == 0) co_return 0;
  plait::future<int> below = plait::spawn(safe(depth - 1));
  co_return co_await below + 1;  // the stack stays flat; frames are on the heap
}
// docs: end
}  // namespace deep

namespace helping {
std::mutex mutex;
int answer() {
  const std::lock_guard lock(mutex);
  return 42;
}

// docs: locks and helping
int unsafe() {
  const std::lock_guard lock(mutex);
  return plait::spawn(answer).get();  // runs other tasks in this very thread, and one of them takes the same mutex
}

int safe() {
  const int found = plait::spawn(answer).get();
  const std::lock_guard lock(mutex);
  return found;
}
// docs: end
}  // namespace helping

TEST_CASE("docs: waiting") {
  CHECK(plait::sync_wait(deep::safe(10'000)) == 10'000);
  CHECK(plait::sync_wait([]() -> plait::task<int> { co_return helping::safe(); }()) == 42);
  static_cast<void>(&deep::unsafe);
  static_cast<void>(&helping::unsafe);
}

// ---- runs -----------------------------------------------------------------------------------------------------------

namespace runs {
plait::task<int> phase(std::vector<int> values) { co_return std::accumulate(values.begin(), values.end(), 0); }
std::vector<int> load() { return {1, 2, 3}; }

// docs: run is collective
void unsafe(plait::runtime& rt) {
  if (rt.rank() == 0) rt.run(phase(load()));  // the others never come: rank 0 waits for ever
}

int safe(plait::runtime& rt) {
  const std::optional<int> sum = rt.run([] { return phase(load()); });  // load() is called on rank 0 only
  return sum.value_or(0);                                               // engaged on rank 0
}
// docs: end
}  // namespace runs

TEST_CASE("docs: run is collective") {
  plait_test::on_loopback(2, {.workers = 1},
                          [](plait::runtime& rt) { CHECK(runs::safe(rt) == (rt.rank() == 0 ? 6 : 0)); });
  static_cast<void>(&runs::unsafe);
}

// ---- what travels ---------------------------------------------------------------------------------------------------

namespace pointers {
// docs: captured pointers
plait::future<double> unsafe(const std::vector<double>& values) {
  // Compiles: nobody can look into captures. On another rank the address means nothing.
  return plait::submit(plait::by_value([p = values.data()](int i) { return p[i]; }), 3);
}

plait::future<double> safe(const std::vector<double>& values) {
  return plait::submit([](const std::vector<double>& v, std::size_t i) { return v.at(i); }, values, 3);
}

plait::future<double> also_safe(double factor, double x) {
  return plait::submit(plait::by_value([factor](double y) { return factor * y; }), x);  // captures numbers
}
// docs: end
}  // namespace pointers

namespace globals {
// docs: one object a rank
int counter = 0;
void unsafe() { ++counter; }  // counts where the task runs, in several threads at once

plait::rank_local<std::atomic<int>> counts;
void safe() { ++*counts; }  // one object a rank, made on first use there

plait::task<int> count_on_all_ranks() {
  for (int i = 0; i < 100; ++i) static_cast<void>(plait::submit<safe>());
  co_await plait::wait_children();
  const std::vector<int> all = co_await plait::spmd([] { return counts->load(); });
  co_return std::accumulate(all.begin(), all.end(), 0);  // 100
}
// docs: end
}  // namespace globals

TEST_CASE("docs: what travels") {
  plait_test::on_loopback(2, {.workers = 2}, [](plait::runtime& rt) {
    rt.run([]() -> plait::task<void> {
      const std::vector<double> values = {0, 1, 2, 3.5};
      CHECK(co_await pointers::safe(values) == 3.5);
      CHECK(co_await pointers::also_safe(2, 3) == 6);
    });
    CHECK(rt.run(globals::count_on_all_ranks()).value_or(100) == 100);
  });
  static_cast<void>(&pointers::unsafe);
  static_cast<void>(&globals::unsafe);
}

// ---- exceptions -----------------------------------------------------------------------------------------------------

namespace exceptions {
// docs: exceptions of your own
struct no_convergence : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline plait::transferable_exception<no_convergence> register_no_convergence;  // at namespace scope

double solve(double x) {
  if (x < 0) throw no_convergence("x is negative");
  return x;
}

plait::task<bool> caught_as_itself() {
  plait::future<double> y = plait::submit<solve>(plait::on_rank(plait::size() - 1), -1.0);
  try {
    co_await y;
  } catch (const no_convergence&) {  // without the line above: plait::remote_error where it comes from another rank
    co_return true;
  }
  co_return false;
}
// docs: end
}  // namespace exceptions

TEST_CASE("docs: exceptions of your own") {
  plait_test::on_loopback(2, {.workers = 1},
                          [](plait::runtime& rt) { CHECK(rt.run(exceptions::caught_as_itself()).value_or(true)); });
}

// ---- sync objects ---------------------------------------------------------------------------------------------------

namespace async_mutexes {
plait::async_mutex mutex;
int count = 0;

// docs: async_mutex
plait::task<void> unsafe() {
  const std::lock_guard lock(mutex);  // compiles, and locks nothing: lock() only gives something to await
  ++count;
  co_await step();
}

plait::task<void> safe() {
  const auto lock = co_await mutex.scoped_lock();
  ++count;
  co_await step();
}
// docs: end
}  // namespace async_mutexes

namespace closed_channels {
// docs: closed channels
plait::task<void> unsafe(plait::channel<int>& numbers) {
  for (int i = 0;; ++i) static_cast<void>(co_await numbers.send(i));  // goes on when it is closed, and never waits then
}

plait::task<void> safe(plait::channel<int>& numbers) {
  for (int i = 0; co_await numbers.send(i); ++i) {
  }
}
// docs: end
}  // namespace closed_channels

namespace local_sync_objects {
// docs: local sync objects
plait::task<void> unsafe() {
  plait::async_latch ready(1);
  static_cast<void>(plait::spawn([&ready]() -> plait::task<void> { co_await ready.wait(); }));
  ready.count_down();
  co_return;  // the other task may not have come to the latch yet
}

plait::task<void> safe() {
  plait::async_latch ready(1);
  auto other = co_await plait::fork([&ready]() -> plait::task<void> { co_await ready.wait(); });  // ends before ready
  ready.count_down();
  co_await other;
}
// docs: end
}  // namespace local_sync_objects

TEST_CASE("docs: sync objects") {
  plait::sync_wait([]() -> plait::task<void> {
    std::vector<plait::future<void>> all;
    for (int i = 0; i < 10; ++i) all.push_back(plait::spawn(async_mutexes::safe()));
    co_await plait::when_all(std::move(all));
    plait::channel<int> numbers;
    auto sender = plait::spawn(closed_channels::safe(numbers));
    CHECK(*co_await numbers.receive() == 0);
    CHECK(*co_await numbers.receive() == 1);
    numbers.close();
    co_await sender;
    co_await local_sync_objects::safe();
  }());
  CHECK(async_mutexes::count == 10);
  static_cast<void>(&async_mutexes::unsafe);
  static_cast<void>(&closed_channels::unsafe);
  static_cast<void>(&local_sync_objects::unsafe);
}

// ---- callbacks ------------------------------------------------------------------------------------------------------

namespace callbacks {
// docs: callbacks
int square(int x) { return x * x; }

plait::task<void> unsafe() {
  int sum = 0;  // ends before the callbacks run; and two of them may run at once
  for (int x = 0; x < 10; ++x) {
    plait::submit<square>(x).add_done_callback([&sum](const plait::future<int>& f) { sum += f.result(); });
  }
  co_return;
}

plait::task<int> safe() {
  std::atomic<int> sum = 0;
  for (int x = 0; x < 10; ++x) {
    plait::submit<square>(x).add_done_callback([&sum](const plait::future<int>& f) { sum += f.result(); });
  }
  co_await plait::wait_children();  // the tasks have ended, and so have their callbacks
  co_return sum;
}
// docs: end
}  // namespace callbacks

TEST_CASE("docs: callbacks") {
  plait_test::on_loopback(2, {.workers = 2},
                          [](plait::runtime& rt) { CHECK(rt.run(callbacks::safe()).value_or(285) == 285); });
  static_cast<void>(&callbacks::unsafe);
}

namespace sharing {
std::string read_name() { return "shared"; }

// docs: shared futures
std::string_view unsafe(plait::pool& pool) {
  plait::shared_future<std::string> name = pool.spawn(read_name).share();
  return name.get();  // refers to the result, which ends with the last handle
}

plait::task<std::size_t> safe() {
  plait::shared_future<std::string> name = plait::spawn(read_name).share();
  plait::future<std::size_t> length = plait::spawn([name] { return name.get().size(); });  // a copy keeps the result
  const std::string& text = co_await name;                                                 // as long as name lives
  co_return text.size() + co_await length;
}
// docs: end
}  // namespace sharing

namespace promises {
// docs: promises
struct unsafe {
  std::mutex mutex;
  plait::promise<int> first;
  void found(int x) {
    const std::lock_guard lock(mutex);
    first.set_value(x);  // runs the callbacks of its future here; one that locks the same mutex never comes back
  }
};

struct safe {
  std::mutex mutex;
  std::optional<plait::promise<int>> first{std::in_place};
  void found(int x) {
    std::optional<plait::promise<int>> mine;
    {
      const std::lock_guard lock(mutex);
      mine = std::exchange(first, std::nullopt);  // what comes second finds nothing
    }
    if (mine) mine->set_value(x);
  }
};
// docs: end
}  // namespace promises

namespace any {
plait::task<int> search(const int& limit) {
  for (int i = 0; i < limit && !plait::this_task::cancelled(); ++i) co_await plait::yield();
  co_return 7;
}

// docs: when_any
plait::task<int> unsafe() {
  const int limit = 100;
  plait::future<int> a = plait::spawn(search, std::cref(limit)), b = plait::spawn(search, std::cref(limit));
  const std::size_t first = co_await plait::when_any(a, b);
  co_return co_await (first == 0 ? a : b);  // the other one goes on, detached, and reads limit after its end
}

plait::task<int> safe() {
  const int limit = 100;
  plait::future<int> a = co_await plait::fork(search(limit)), b = co_await plait::fork(search(limit));
  plait::future<int>& first = co_await plait::when_any(a, b) == 0 ? a : b;
  co_return co_await first;  // the other one is asked to stop where its future ends, and has ended afterwards
}
// docs: end
}  // namespace any

TEST_CASE("docs: joining, shared futures and promises") {
  CHECK(plait::sync_wait(sharing::safe()) == 12);
  static_cast<void>(&sharing::unsafe);
  promises::safe p;
  auto f = p.first->get_future();
  f.add_done_callback([&p](const plait::future<int>&) { const std::lock_guard lock(p.mutex); });
  p.found(1);
  p.found(2);
  CHECK(f.get() == 1);
  static_cast<void>(&promises::unsafe::found);
  CHECK(plait::sync_wait(any::safe()) == 7);
  static_cast<void>(&any::unsafe);
}

// ---- native MPI -----------------------------------------------------------------------------------------------------

#if PLAIT_WITH_MPI
namespace native {
// docs: collectives in spmd bodies
double unsafe(double mine) {
  if (mine == 0) return 0;  // this rank does not come to the collective: the others wait in it for ever
  double sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, plait::mpi::comm());
  return sum;
}

double safe(double mine) {
  double sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, plait::mpi::comm());
  return sum;
}
// docs: end

// docs: native MPI below MULTIPLE
double sum_of(double mine) {
  double sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, plait::mpi::comm());
  return sum;
}

plait::task<double> unsafe_below_multiple(double mine) {
  co_return co_await plait::spawn(sum_of, mine);  // in any worker, while plait uses MPI in another
}

plait::task<double> safe_at_any_level(double mine) {
  co_await step();
  co_return sum_of(mine);  // in the body itself
}
// docs: end
}  // namespace native

TEST_CASE("docs: native MPI is an error where there is none") {
  static_cast<void>(&native::unsafe);
  static_cast<void>(&native::unsafe_below_multiple);
  plait_test::on_loopback(2, {.workers = 1}, [](plait::runtime& rt) {
    rt.run([]() -> plait::task<void> {
      CHECK_THROWS_AS(co_await plait::spmd<native::safe>(1.0), plait::error);
      CHECK_THROWS_AS(co_await plait::spmd<native::safe_at_any_level>(1.0), plait::error);
    });
  });
}
#endif

// ---- where frames come from, other pools, blocking calls ------------------------------------------------------------

namespace frames {
// docs: frames
plait::task<int> number(std::allocator_arg_t, std::pmr::memory_resource*, int n) { co_return n; }

plait::future<int> unsafe() {
  std::pmr::monotonic_buffer_resource memory;  // ends before the frame does; and is for one thread at a time
  return plait::spawn(number(std::allocator_arg, &memory, 1));
}

plait::task<int> safe(std::pmr::synchronized_pool_resource& memory) {
  auto f = co_await plait::fork(number(std::allocator_arg, &memory, 1));
  co_return co_await f;  // takes the result and ends the frame
}
// docs: end
}  // namespace frames

TEST_CASE("docs: frames") {
  std::pmr::synchronized_pool_resource memory;
  CHECK(plait::sync_wait(frames::safe(memory)) == 1);
  static_cast<void>(&frames::unsafe);
}

namespace other_pools {
plait::task<int> read_answer() {
  co_await step();
  co_return 42;
}

// docs: pools of a task
plait::task<int> unsafe() {
  plait::pool io({.workers = 1});
  co_await plait::resume_on(io);
  const int answer = co_await read_answer();
  co_return answer;  // ends the pool in one of its own workers: it waits for this task, and so for itself
}

plait::task<int> safe(plait::pool& home) {
  plait::pool io({.workers = 1});
  co_await plait::resume_on(io);
  const int answer = co_await read_answer();
  co_await plait::resume_on(home);  // an exception must not leave out this line
  co_return answer;
}

plait::task<int> also_safe() {
  plait::pool io({.workers = 1});
  co_return co_await io.spawn(read_answer());  // only the child is there
}
// docs: end
}  // namespace other_pools

TEST_CASE("docs: pools of a task") {
  plait::pool home({.workers = 2});
  CHECK(home.run(other_pools::safe(home)) == 42);
  CHECK(home.run(other_pools::also_safe()) == 42);
  static_cast<void>(&other_pools::unsafe);
}

namespace blocking_calls {
std::string read_whole_file(const std::string& name) { return "contents of " + name; }

// docs: blocking calls
plait::task<std::string> unsafe(const std::string& name) {
  co_return read_whole_file(name);  // the worker waits for the disk, and so do the tasks in its queue
}

plait::task<std::string> safe(const std::string& name) { co_return co_await plait::blocking(read_whole_file, name); }

plait::task<std::string> unsafe_view(std::string_view name) {
  // The task keeps a copy of the view, not of the text: whoever owns that must outlive the call.
  return plait::blocking([](std::string_view n) { return read_whole_file(std::string(n)); }, name);
}
// docs: end
}  // namespace blocking_calls

TEST_CASE("docs: blocking calls") {
  CHECK(plait::sync_wait(blocking_calls::safe("x")) == "contents of x");
  static_cast<void>(&blocking_calls::unsafe);
  static_cast<void>(&blocking_calls::unsafe_view);
}

// ---- g++ 12 ---------------------------------------------------------------------------------------------------------

namespace compiler {
struct plot_options {
  std::string title;
  int width = 80;
};
plait::task<int> draw(plot_options o) { co_return o.width + static_cast<int>(o.title.size()); }

// docs: aggregates
plait::task<int> unsafe() { co_return co_await draw(plot_options{.title = "g++ 12 destroys this temporary twice"}); }

plait::task<int> safe() {
  const plot_options options{.title = "a name"};
  co_return co_await draw(options);
}
// docs: end

namespace captures {
// docs: lambdas in co_await expressions
plait::task<std::size_t> unsafe(std::string title) {
  co_return co_await plait::spawn([title] { return title.size(); });  // g++ 12 destroys the captured string twice
}

plait::task<std::size_t> safe(std::string title) {
  auto measure = [title] { return title.size(); };
  co_return co_await plait::spawn(std::move(measure));
}

plait::task<std::size_t> also_safe(std::string title) {
  co_return co_await plait::spawn([](const std::string& text) { return text.size(); }, title);
}
// docs: end
}  // namespace captures

plait::task<int> total(std::vector<int> v) { co_return std::accumulate(v.begin(), v.end(), 0); }

// docs: braces
plait::task<int> safe_braces() {
  // co_await total({1, 2})  and  std::vector<int> v{co_await a, co_await b}  do not compile with g++ 12.
  const std::vector<int> values = {1, 2};
  const int a = co_await total(values);
  const int b = co_await total(values);
  const std::vector<int> both = {a, b};
  co_return co_await total(both);
}
// docs: end

plait::task<bool> converged(int round) { co_return round > 2; }

namespace conditions {
// docs: conditions
plait::task<void> unsafe() {
  if (co_await converged(3)) std::puts("converged");  // no local variable anywhere: with g++ 12 nothing of this runs
}

plait::task<void> safe() {
  const bool done = co_await converged(3);
  if (done) std::puts("converged");
}
// docs: end
}  // namespace conditions
}  // namespace compiler

TEST_CASE("docs: forms that g++ 12 compiles rightly") {
  CHECK(plait::sync_wait(compiler::safe()) == 86);
  CHECK(plait::sync_wait(compiler::safe_braces()) == 6);
  plait::sync_wait(compiler::conditions::safe());
  CHECK(plait::sync_wait(compiler::captures::safe(std::string(40, 'x'))) == 40);
  CHECK(plait::sync_wait(compiler::captures::also_safe(std::string(40, 'x'))) == 40);
  static_cast<void>(&compiler::captures::unsafe);
  static_cast<void>(&compiler::unsafe);
  static_cast<void>(&compiler::conditions::unsafe);
}
