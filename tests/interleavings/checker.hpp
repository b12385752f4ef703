// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cxxabi.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define INTERLEAVING_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define INTERLEAVING_ASAN 1
#endif
#endif
#ifdef INTERLEAVING_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

/// Runs a few threads of real code in many orders, one operation on an atomic at a time, as Relacy and CHESS do.
///
/// The headers below tests/interleavings/plait/base stand in for those of the library, so that its atomics, mutexes,
/// futexes, threads and pauses come here. The threads are fibers of one thread. Before each operation another one may
/// go on (at most `preemptions` times in an execution; a thread that waits or gives way does not count), and a load may
/// give an older value than the newest, as far as the memory orders allow it (at most `stale` times).
///
/// The model: stores of one atomic have the order in which they are executed, and so have all seq_cst operations. What
/// happens before what is kept in vector clocks. Loads are not moved before earlier operations; there are no fences but
/// heavy_barrier.
namespace interleaving {

inline constexpr std::size_t max_threads = 4;

/// A time of each thread: what is known of it.
struct times {
  std::array<std::uint32_t, max_threads> of{};
  void join(const times& other) {
    for (std::size_t i = 0; i < max_threads; ++i) of[i] = std::max(of[i], other.of[i]);
  }
};

enum class operation : std::uint8_t { none, load, store, exchange, add, compare_exchange, barrier };

/// A fault put into the code: in functions whose name has `function` in it, this operation gets another order
/// (`weaken`, to relaxed if none is said), or looks and stores in two steps (`no_exchange`), or does nothing at all
/// (`leave_out`).
struct mutation {
  std::string_view function;
  operation what = operation::none;
  enum class kind : std::uint8_t { weaken, no_exchange, leave_out } how = kind::weaken;
  std::optional<std::memory_order> order = {};
  std::memory_order order_or(std::memory_order otherwise) const { return order.value_or(otherwise); }
};

struct limits {
  int preemptions = 2;
  int stale = 1;
  long executions = 100000;   ///< all orders within the limits, if there are no more than this
  std::uint64_t seed = 0;     ///< not 0: this many random orders instead
  bool heavy_barrier = true;  ///< whether the system has it
  mutation fault = {};
};

struct result {
  long executions = 0;
  bool complete = false;  ///< all orders within the limits were tried
  std::string fault;      ///< empty: none was found
  std::uint64_t mutated = 0;
};

class checker {
 public:
  static checker& instance() {
    static checker one;
    return one;
  }

  /// Runs Scenario in many orders, up to the first fault. A scenario has `threads`, run(i) for each of them, and end()
  /// for what must be so afterwards.
  template <class Scenario, class... A>
  result search(limits how, const A&... arguments) {
    // For a longer search: INTERLEAVING_ORDERS and INTERLEAVING_SEED in the environment, for random orders.
    if (how.seed != 0) {
      if (const char* n = std::getenv("INTERLEAVING_ORDERS")) how.executions = std::atol(n);
      if (const char* n = std::getenv("INTERLEAVING_SEED")) how.seed = static_cast<std::uint64_t>(std::atol(n));
    }
    how_ = how;
    mutated_ = 0;
    path_.clear();
    random_.seed(how.seed);
    result found;
    do {
      begin();
      auto scenario = std::make_unique<Scenario>(arguments...);
      for (std::size_t i = 0; i < Scenario::threads; ++i) add([s = scenario.get(), i] { s->run(i); });
      resume_from_main(choose(static_cast<unsigned>(strands_.size())));
      if (fault_.empty()) {
        for (auto& s : strands_) setup_.join(s->known);
        scenario->end();
      }
      found.executions += 1;
      if (!fault_.empty()) {
        print_trace();
        static_cast<void>(scenario.release());  // its state is what the fault has left
        found.fault = fault_;
        break;
      }
      scenario.reset();
      found.complete = how.seed == 0 && !advance();
    } while (!found.complete && found.executions < how.executions);
    current_ = nobody;
    strands_.clear();
    found.mutated = mutated_;
    return found;
  }

  void fail(const std::string& what) {
    if (fault_.empty()) fault_ = what;
    if (current_ != nobody) leave();
  }

  // ---- for the stand-ins ----

  bool running() const { return current_ != nobody; }
  std::size_t self() const { return current_; }
  std::uint64_t execution() const { return execution_; }
  bool has_heavy_barrier() const { return how_.heavy_barrier; }
  times& now() { return current_ == nobody ? setup_ : strands_[current_]->known; }
  std::size_t author() const { return current_ == nobody ? 0 : current_; }
  std::uint32_t tick() { return ++now().of[author()]; }

  /// Before each operation: perhaps another thread goes on first.
  void step() {
    if (current_ == nobody) return;
    if (++steps_ > 20000) return fail("it does not end");
    for (std::size_t i = 0; i < strands_.size(); ++i) {
      if (i != current_) strands_[i]->gave_way = false;
    }
    if (preemptions_ >= how_.preemptions) return;
    const auto others = ready_others();
    if (others.empty()) return;
    const auto chosen = choose(static_cast<unsigned>(others.size()) + 1, rare_preemption_);
    if (chosen == 0) return;
    ++preemptions_;
    go_to(others[chosen - 1]);
  }

  /// Others first: a thread that waits in a loop.
  void give_way() {
    if (current_ == nobody) return;
    if (++steps_ > 20000) return fail("it does not end");
    strands_[current_]->gave_way = true;
    for (const bool eager : {true, false}) {
      for (std::size_t k = 1; k < strands_.size(); ++k) {
        const auto i = (current_ + k) % strands_.size();
        if (is_ready(i) && !(eager && strands_[i]->gave_way)) return go_to(i);
      }
    }
  }

  /// Until release(on).
  void block(const void* on) {
    strands_[current_]->blocked = on;
    go_on_elsewhere();
  }
  void release(const void* on) {
    for (auto& s : strands_) {
      if (s->blocked == on) s->blocked = nullptr;
    }
  }

  /// A choice of one of n; the first one is what happens mostly in random orders (1 in `rare` times another).
  unsigned choose(unsigned n, unsigned rare = 1) {
    if (n == 1) return 0;
    if (how_.seed != 0) {
      if (rare > 1 && random_() % rare != 0) return 0;
      return static_cast<unsigned>(random_() % n);
    }
    if (next_ == path_.size()) path_.push_back({0, n});
    return path_[next_++].chosen;
  }
  /// Which of the n newest values a load gives, 0 the newest.
  unsigned choose_age(unsigned n) {
    if (current_ == nobody || stale_ >= how_.stale || n <= 1) return 0;
    const auto age = choose(n, rare_age_);
    if (age != 0) ++stale_;
    return age;
  }

  /// All threads know all that others have done.
  void meet_all() {
    times all = setup_;
    for (auto& s : strands_) all.join(s->known);
    for (auto& s : strands_) s->known = all;
  }

  /// The fault to put into this operation, or null.
  const mutation* mutation_of(operation what, const std::source_location& where) {
    if (how_.fault.what != what || what == operation::none) return nullptr;
    if (std::string_view(where.function_name()).find(how_.fault.function) == std::string_view::npos) return nullptr;
    ++mutated_;
    return &how_.fault;
  }

  /// What is done next, for the trace.
  void note(operation what, const std::source_location& where) { trace_.push_back({current_, what, where}); }

  std::size_t add(std::function<void()> body) {
    if (strands_.size() == max_threads) std::abort();
    auto made = std::make_unique<strand>();
    made->known = now();
    made->stack = stacks_[strands_.size()].get();
    made->body = std::move(body);
    getcontext(&made->context);
    made->context.uc_stack.ss_sp = made->stack;
    made->context.uc_stack.ss_size = stack_size;
    made->context.uc_link = nullptr;
#ifdef INTERLEAVING_ASAN
    __asan_unpoison_memory_region(made->stack, stack_size);
#endif
    makecontext(&made->context, &checker::enter, 0);
    strands_.push_back(std::move(made));
    return strands_.size() - 1;
  }
  bool has_ended(std::size_t i) const { return strands_[i]->ended; }
  void join(std::size_t i) {
    step();
    while (!strands_[i]->ended) block(strands_[i].get());
    now().join(strands_[i]->known);
  }

  /// What the library keeps for a thread.
  void*& thread_worker() { return current_ == nobody ? main_worker_ : strands_[current_]->worker; }
  const void* thread_identity() const { return current_ == nobody ? nullptr : strands_[current_].get(); }

 private:
  static constexpr std::size_t nobody = ~std::size_t{0};
  static constexpr std::size_t stack_size = 256 * 1024;

  /// What the C++ runtime keeps for a thread: exceptions that are being handled.
  using exceptions = std::array<void*, 2>;
  static void swap_exceptions(exceptions& from, const exceptions& to) {
    auto* const globals = abi::__cxa_get_globals();
    std::memcpy(from.data(), globals, sizeof from);
    std::memcpy(static_cast<void*>(globals), to.data(), sizeof to);
  }

  struct strand {
    ucontext_t context;
    std::function<void()> body;
    char* stack = nullptr;
    times known;
    const void* blocked = nullptr;
    bool gave_way = false;
    bool ended = false;
    void* worker = nullptr;
    exceptions handled{};
    void* fake_stack = nullptr;  ///< of the address sanitizer
  };
  struct decision {
    unsigned chosen, count;
  };
  struct event {
    std::size_t thread;
    operation what;
    std::source_location where;
  };

  /// With INTERLEAVING_TRACE=n in the environment: the last n operations before a fault.
  void print_trace() const {
    const char* wanted = std::getenv("INTERLEAVING_TRACE");
    if (wanted == nullptr) return;
    static constexpr const char* names[] = {"", "load", "store", "exchange", "add", "compare_exchange", "barrier"};
    const auto n = std::min(trace_.size(), static_cast<std::size_t>(std::atol(wanted)));
    for (std::size_t i = trace_.size() - n; i < trace_.size(); ++i) {
      const auto& e = trace_[i];
      const std::string_view file = e.where.file_name();
      std::fprintf(stderr, "%d %s %s:%u %s\n", static_cast<int>(e.thread), names[static_cast<int>(e.what)],
                   file.substr(file.rfind('/') + 1).data(), static_cast<unsigned>(e.where.line()),
                   e.where.function_name());
    }
  }

  checker() {
    for (auto& s : stacks_) s = std::make_unique<char[]>(stack_size);
  }

  void begin() {
    strands_.clear();
    ++execution_;
    setup_ = {};
    fault_.clear();
    trace_.clear();
    next_ = 0;
    // Random orders differ in how often threads change, and in how often a load is stale.
    rare_preemption_ = 2 + static_cast<unsigned>(random_() % 30);
    rare_age_ = 2 + static_cast<unsigned>(random_() % 60);
    steps_ = 0;
    preemptions_ = stale_ = 0;
    current_ = nobody;
  }
  bool advance() {
    while (!path_.empty() && path_.back().chosen + 1 == path_.back().count) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().chosen;
    return true;
  }

  bool is_ready(std::size_t i) const { return !strands_[i]->ended && strands_[i]->blocked == nullptr; }
  std::vector<std::size_t> ready_others() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < strands_.size(); ++i) {
      if (i != current_ && is_ready(i) && !strands_[i]->gave_way) found.push_back(i);
    }
    return found;
  }

  void go_on_elsewhere() {
    std::vector<std::size_t> ready = ready_others();
    for (std::size_t i = 0; ready.empty() && i < strands_.size(); ++i) {
      if (i != current_ && is_ready(i)) ready.push_back(i);
    }
    if (!ready.empty()) return go_to(ready[choose(static_cast<unsigned>(ready.size()))]);
    const bool all_ended = std::all_of(strands_.begin(), strands_.end(), [](auto& s) { return s->ended; });
    if (!all_ended) fault_ = "a thread sleeps and nobody is left to wake it";
    leave();
  }

  // ---- fibers ----

  static void enter() {
    auto& c = instance();
    c.arrived(nullptr);
    c.strands_[c.current_]->body();
    auto& me = *c.strands_[c.current_];
    me.ended = true;
    c.release(&me);
    c.go_on_elsewhere();
  }
  void go_to(std::size_t i) {
    auto& from = *strands_[current_];
    swap_exceptions(from.handled, strands_[i]->handled);
    current_ = i;
    about_to_switch(from.ended ? nullptr : &from.fake_stack, strands_[i]->stack, stack_size);
    swapcontext(&from.context, &strands_[i]->context);
    arrived(from.fake_stack);
  }
  void resume_from_main(std::size_t i) {
    swap_exceptions(main_exceptions_, strands_[i]->handled);
    current_ = i;
    about_to_switch(&main_fake_stack_, strands_[i]->stack, stack_size);
    swapcontext(&main_, &strands_[i]->context);
    arrived(main_fake_stack_);
  }
  /// Back to search; the fiber is not resumed any more.
  void leave() {
    current_ = nobody;
    exceptions dropped_exceptions{};
    swap_exceptions(dropped_exceptions, main_exceptions_);
    about_to_switch(nullptr, main_stack_, main_stack_size_);
    swapcontext(&dropped_, &main_);
  }
#ifdef INTERLEAVING_ASAN
  void about_to_switch(void** fake_stack, const void* stack, std::size_t size) {
    __sanitizer_start_switch_fiber(fake_stack, stack, size);
  }
  void arrived(void* fake_stack) {
    const void* stack = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(fake_stack, &stack, &size);
    const bool from_main = std::none_of(stacks_.begin(), stacks_.end(), [stack](auto& s) { return s.get() == stack; });
    if (from_main) {
      main_stack_ = stack;
      main_stack_size_ = size;
    }
  }
#else
  void about_to_switch(void**, const void*, std::size_t) {}
  void arrived(void*) {}
#endif

  limits how_;
  std::uint64_t execution_ = 0;
  std::uint64_t mutated_ = 0;
  std::mt19937_64 random_;
  std::vector<decision> path_;
  std::vector<event> trace_;
  std::size_t next_ = 0;
  long steps_ = 0;
  unsigned rare_preemption_ = 2, rare_age_ = 2;
  int preemptions_ = 0, stale_ = 0;
  std::string fault_;
  times setup_;
  std::size_t current_ = nobody;
  std::array<std::unique_ptr<char[]>, max_threads> stacks_;
  std::vector<std::unique_ptr<strand>> strands_;
  ucontext_t main_{}, dropped_{};
  void* main_fake_stack_ = nullptr;
  exceptions main_exceptions_{};
  const void* main_stack_ = nullptr;
  std::size_t main_stack_size_ = 0;
  void* main_worker_ = nullptr;
};

/// Tells the checker of a fault if `fine` is false.
inline void require(bool fine, const char* what) {
  if (!fine) checker::instance().fail(what);
}

inline bool acquires(std::memory_order o) {
  return o == std::memory_order_acquire || o == std::memory_order_acq_rel || o == std::memory_order_seq_cst;
}
inline bool releases(std::memory_order o) {
  return o == std::memory_order_release || o == std::memory_order_acq_rel || o == std::memory_order_seq_cst;
}

/// The stores of one atomic, the newest last.
template <class T>
class history {
 public:
  explicit history(T first) { add(first, times{}, false); }

  T newest() const { return stores_.back().value; }

  T load(std::memory_order order, bool may_be_stale) {
    auto& c = checker::instance();
    auto& now = c.now();
    c.tick();
    std::size_t oldest = stores_.size() - 1;
    while (may_be_stale && oldest > 0 && !hides_older(stores_[oldest], now, order)) --oldest;
    auto& s = stores_[stores_.size() - 1 - c.choose_age(static_cast<unsigned>(stores_.size() - oldest))];
    return read(s, order);
  }
  void store(T value, std::memory_order order) {
    auto& c = checker::instance();
    c.tick();
    add(value, releases(order) ? c.now() : times{}, order == std::memory_order_seq_cst);
  }
  /// Reads the newest and stores change(newest).
  template <class Change>
  T modify(std::memory_order order, Change change) {
    auto& c = checker::instance();
    c.tick();
    const T before = read(stores_.back(), order);
    times published = stores_.back().published;  // a release sequence goes on
    if (releases(order)) published.join(c.now());
    add(change(before), published, order == std::memory_order_seq_cst);
    return before;
  }
  T read_newest(std::memory_order order) {
    checker::instance().tick();
    return read(stores_.back(), order);
  }

 private:
  struct entry {
    T value;
    times published;
    std::size_t by;
    std::uint32_t at;
    bool seq_cst;
    times first_seen;
  };
  static constexpr std::size_t longest = 8;

  /// Whether what was stored before `s` can't be read any more: coherence, and the order of seq_cst.
  static bool hides_older(const entry& s, const times& now, std::memory_order order) {
    if (s.at <= now.of[s.by]) return true;
    if (order == std::memory_order_seq_cst && s.seq_cst) return true;
    for (std::size_t i = 0; i < max_threads; ++i) {
      if (s.first_seen.of[i] != 0 && s.first_seen.of[i] <= now.of[i]) return true;
    }
    return false;
  }
  T read(entry& s, std::memory_order order) {
    auto& c = checker::instance();
    auto& seen = s.first_seen.of[c.author()];
    if (seen == 0) seen = c.now().of[c.author()];
    if (acquires(order)) c.now().join(s.published);
    return s.value;
  }
  void add(T value, const times& published, bool seq_cst) {
    auto& c = checker::instance();
    if (stores_.size() == longest) stores_.erase(stores_.begin());
    stores_.push_back({value, published, c.author(), c.now().of[c.author()], seq_cst, {}});
  }

  std::vector<entry> stores_;
};

/// A variable that is no atomic: tells where two threads use it without an order between them.
template <class T>
class plain {
 public:
  plain() = default;
  plain(T value) : value_(value) { note_write(); }  // NOLINT: stands for a T
  plain(const plain& other) : value_(other.read()) { note_write(); }
  plain& operator=(const plain& other) {
    write(other.read());
    return *this;
  }

  T read() const {
    auto& c = checker::instance();
    check_writer();
    read_.of[c.author()] = c.tick();
    return value_;
  }
  void write(T value) {
    check_writer();
    auto& now = checker::instance().now();
    for (std::size_t i = 0; i < max_threads; ++i) {
      require(read_.of[i] <= now.of[i], "a variable is written while another thread reads it");
    }
    value_ = value;
    note_write();
  }

 private:
  void check_writer() const {
    require(at_ <= checker::instance().now().of[by_], "a variable is used while another thread writes it");
  }
  void note_write() {
    auto& c = checker::instance();
    by_ = c.author();
    at_ = c.tick();
  }

  T value_{};
  std::size_t by_ = 0;
  std::uint32_t at_ = 0;
  mutable times read_;
};

}  // namespace interleaving
