// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/exchange.hpp>
#include <plait/base/fiber.hpp>
#include <plait/base/simulator.hpp>
#include <plait/base/splitmix64.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plait::base {

/// Simulated threads in virtual time, all in the thread that calls run: each has a stack of its own and a core of its
/// own, and runs until it sleeps, gives way or charges time. Events of the same time come in an order that the seed
/// determines; nothing else does, so the same seed gives the same run.
class event_loop final : public simulator {
 public:
  struct options {
    std::uint64_t seed = 1;
    std::size_t stack_bytes = 256 * 1024;                         ///< of each simulated thread
    std::int64_t wake_nanoseconds = 0;                            ///< how long it takes until who was woken goes on
    std::int64_t turn_nanoseconds = 50;                           ///< what giving way takes at least
    std::int64_t turn_jitter = 0;                                 ///< and at most so much more
    std::int64_t end = std::numeric_limits<std::int64_t>::max();  ///< nothing happens later
  };

  /// Where the virtual time begins: not 0, which stands for long ago.
  static constexpr std::int64_t start_time = 3'600'000'000'000;

  explicit event_loop(const options& o) : options_(o), random_(o.seed * 0x9e3779b97f4a7c15u + 0x1234567) {}
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;
  /// Threads that have not ended, after an error of run, are left as they are: nothing on their stacks is destroyed.
  ~event_loop() = default;

  /// Runs all that was started, and what that starts, until all have ended. Throws plait::error, with what they wait
  /// for, when nothing will ever happen again although some have not: they can't be waited for any more then.
  void run() {
    scope inside(*this);
    while (alive_ != 0) {
      if (events_.empty()) throw error(describe_stuck());
      const event e = events_.top();
      events_.pop();
      now_ = e.when;
      if (now_ > options_.end) throw error(describe_stuck());
      ++steps_;
      e.act(e.object, e.argument);
    }
  }

  /// Calls act(object, argument) at a time, between two turns of threads.
  void at(std::int64_t when, void (*act)(void*, std::uint64_t), void* object, std::uint64_t argument) {
    events_.push({when < now_ ? now_ : when, random(), act, object, argument});
  }

  /// What is told of the running thread in an error; any text.
  void name_this_thread(std::string name) { current_->name = std::move(name); }

  /// The number of events so far, and a digest of which and when: equal for equal runs.
  std::uint64_t steps() const noexcept { return steps_; }
  std::uint64_t digest() const noexcept { return digest_; }
  void note(std::uint64_t what) noexcept { digest_ = (digest_ ^ what) * 0x100000001b3u + 0x9e3779b9; }

  // ---- simulator ----

  std::int64_t now() const noexcept override { return now_; }
  void nap(std::int64_t nanoseconds) noexcept override {
    if (nanoseconds <= 0) return;
    schedule(*current_, now_ + nanoseconds);
    suspend();
  }
  void give_way() noexcept override {
    const auto jitter = options_.turn_jitter <= 0 ? 0 : random() % static_cast<std::uint64_t>(options_.turn_jitter + 1);
    nap(options_.turn_nanoseconds + static_cast<std::int64_t>(jitter));
  }
  void wait(const void* word, std::int64_t at_most) noexcept override {
    auto& me = *current_;
    auto*& first = sleepers_[word];
    me.word = word;
    me.next = base::exchange(first, &me);
    if (at_most < std::numeric_limits<std::int64_t>::max() - now_) schedule(me, now_ + at_most);
    suspend();
  }
  void wake(const void* word, int how_many) noexcept override {
    const auto found = sleepers_.find(word);
    if (found == sleepers_.end()) return;
    for (; how_many > 0 && found->second != nullptr; --how_many) {
      auto* const t = found->second;
      found->second = t->next;
      t->word = nullptr;
      schedule(*t, now_ + options_.wake_nanoseconds);
    }
    if (found->second == nullptr) sleepers_.erase(found);
  }
  void* start(void (*body)(void*), void* argument) override {
    if (ended_.empty()) {
      threads_.push_back(std::make_unique<thread>(*this, threads_.size(), options_.stack_bytes));
      ended_.push_back(threads_.back().get());
    }
    auto* t = ended_.back();
    ended_.pop_back();
    t->begin(body, argument, current_ != nullptr ? current_->name : std::string());
    ++alive_;
    schedule(*t, now_);
    return t;
  }
  void join(void* which) noexcept override {
    auto* t = static_cast<thread*>(which);
    while (!t->ended) wait(t, std::numeric_limits<std::int64_t>::max());
    ended_.push_back(t);
  }
  char* stack_floor() const noexcept override { return current_->stack.floor(); }
  const void* identity() const noexcept override { return current_; }
  std::uint64_t random() noexcept override { return random_(); }

 private:
  struct thread {
    thread(event_loop& l, std::size_t i, std::size_t stack_bytes) : loop(l), index(i), stack(stack_bytes) {}

    void begin(void (*b)(void*), void* a, std::string n) {
      body = b;
      argument = a;
      name = std::move(n);
      ended = false;
      place.emplace(stack, &enter, this);
    }
    static void enter(void* self) {
      auto& t = *static_cast<thread*>(self);
      t.body(t.argument);
      t.ended = true;
      --t.loop.alive_;
      t.loop.wake(&t, 1);
      t.place->switch_to(t.loop.main_, true);
    }

    event_loop& loop;
    const std::size_t index;
    stack_memory stack;
    void (*body)(void*) = nullptr;
    void* argument = nullptr;
    std::optional<fiber> place;
    std::string name;
    std::uint64_t turn = 0;      ///< an event of an earlier one is stale
    const void* word = nullptr;  ///< on which it sleeps
    thread* next = nullptr;      ///< that sleeps on the same
    bool ended = true;
  };
  struct event {
    std::int64_t when;
    std::uint64_t order;
    void (*act)(void*, std::uint64_t);
    void* object;
    std::uint64_t argument;
    friend bool operator<(const event& a, const event& b) noexcept {  // the greatest comes first
      return a.when != b.when ? a.when > b.when : a.order > b.order;
    }
  };
  struct scope {
    explicit scope(event_loop& l) noexcept : before(base::exchange(plait_thread_simulator, &l)) {}
    ~scope() { plait_thread_simulator = before; }
    simulator* before;
  };

  /// The thread goes on at a time, unless it does before.
  void schedule(thread& t, std::int64_t when) { at(when, &resume, &t, ++t.turn); }
  static void resume(void* object, std::uint64_t turn) {
    auto& t = *static_cast<thread*>(object);
    auto& loop = t.loop;
    if (t.turn != turn) return;
    ++t.turn;
    if (t.word != nullptr) loop.forget(t);  // its time has come
    loop.note(static_cast<std::uint64_t>(loop.now_) ^ t.index << 48);
    loop.current_ = &t;
    loop.main_.switch_to(*t.place);
    loop.current_ = nullptr;
  }
  void suspend() noexcept { current_->place->switch_to(main_); }

  void forget(thread& t) noexcept {
    const auto found = sleepers_.find(base::exchange(t.word, nullptr));
    auto** at = &found->second;
    while (*at != &t) at = &(*at)->next;
    *at = t.next;
    if (found->second == nullptr) sleepers_.erase(found);
  }

  std::string describe_stuck() const {
    std::string text = "plait: the simulation is stuck: " +
                       std::string(events_.empty() ? "nothing will happen any more, and " : "its time is over, and ") +
                       std::to_string(alive_) + " threads have not ended (seed " + std::to_string(options_.seed) + "):";
    std::size_t shown = 0;
    for (const auto& t : threads_) {
      if (!t->ended && ++shown <= 8) text += " [" + t->name + "]";
    }
    return shown > 8 ? text + " ..." : text;
  }

  const options options_;
  fiber main_;
  thread* current_ = nullptr;
  std::int64_t now_ = start_time;
  splitmix64 random_;
  std::uint64_t steps_ = 0;
  std::uint64_t digest_ = 0;
  std::size_t alive_ = 0;
  std::priority_queue<event> events_;
  std::unordered_map<const void*, thread*> sleepers_;
  std::vector<std::unique_ptr<thread>> threads_;
  std::vector<thread*> ended_;  ///< whose stacks others may have
};

}  // namespace plait::base
