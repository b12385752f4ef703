// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/exchange.hpp>
#include <plait/base/thread_slot.hpp>

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif
#if PLAIT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if PLAIT_TSAN
#include <sanitizer/tsan_interface.h>
#endif

PLAIT_INTERFACE

namespace plait::base {

/// Memory for a stack, with a page below it that can't be touched. Pages that are never used take no memory.
class stack_memory {
 public:
  /// Throws plait::error if the system gives none.
  explicit stack_memory(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    size_ = (bytes + page - 1) / page * page + page;
    void* place = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) throw error("plait: the system has no memory for another stack");
    lowest_ = static_cast<char*>(place);
    guard_ = page;
    ::mprotect(lowest_, page, PROT_NONE);
    make_empty();
  }
  stack_memory(stack_memory&& other) noexcept
      : lowest_(base::exchange(other.lowest_, nullptr)), size_(other.size_), guard_(other.guard_) {}
  stack_memory& operator=(stack_memory&&) = delete;
  ~stack_memory() {
    if (lowest_ == nullptr) return;
    make_empty();
    ::munmap(lowest_, size_);
  }

  /// Before its use, and after it, since anything may come to lie here then: the last frames that were here did not
  /// return.
  void make_empty() noexcept {
#if PLAIT_ASAN
    __asan_unpoison_memory_region(lowest_, size_);
#endif
  }

  char* floor() const noexcept { return lowest_ + guard_; }
  std::size_t size() const noexcept { return size_ - guard_; }

 private:
  char* lowest_ = nullptr;
  std::size_t size_ = 0;
  std::size_t guard_ = 0;
};

#if defined(__x86_64__)
/// Saves what the System V ABI lets a function keep on the stack, leaves its place in *from, and goes on at `to`.
__attribute__((naked, noinline)) inline void switch_stack(void** /*from*/, void* /*to*/) {
  asm("pushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n\t"
      "movq %rsp, (%rdi)\n\tmovq %rsi, %rsp\n\t"
      "popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\tret");
}
#endif

/// A place where code goes on: that of a thread, or one with a stack of its own. What the thread keeps for the code
/// that runs goes with it: the worker, the floor of the stack, the exceptions that are being handled.
class fiber {
 public:
  /// The running thread's own.
  fiber() noexcept {
#if PLAIT_TSAN
    sanitizer_ = __tsan_get_current_fiber();
#endif
  }
  /// The first switch to it calls body(argument), which must not return but switch elsewhere with end = true.
  fiber(const stack_memory& stack, void (*body)(void*), void* argument) noexcept
      : body_(body), argument_(argument), floor_(stack.floor()), size_(stack.size()) {
#if defined(__x86_64__)
    auto** top = reinterpret_cast<void**>(floor_ + size_);
    *--top = nullptr;  // where the entry would return to; an address that 16 does not divide, as after a call
    *--top = reinterpret_cast<void*>(&enter);
    for (int i = 0; i < 6; ++i) *--top = nullptr;
    place_ = top;
#else
    ::getcontext(&context_);
    context_.uc_stack.ss_sp = floor_;
    context_.uc_stack.ss_size = size_;
    context_.uc_link = nullptr;
    ::makecontext(&context_, &enter, 0);
#endif
#if PLAIT_TSAN
    sanitizer_ = __tsan_create_fiber(0);
#endif
  }
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;
  ~fiber() {
#if PLAIT_TSAN
    if (body_ != nullptr) __tsan_destroy_fiber(sanitizer_);
#endif
  }

  char* floor() const noexcept { return floor_; }

  /// The code that runs is this fiber's; it goes on when somebody switches back. end: it never will.
  PLAIT_NOINLINE void switch_to(fiber& next, [[maybe_unused]] bool end = false) noexcept {
    worker_ = thread_worker();
    thread_floor_ = exchange_thread_floor(nullptr);
    auto& handled = *reinterpret_cast<handled_exceptions*>(abi::__cxa_get_globals());
    const handled_exceptions own = handled;
    handled = {};
    next.before_ = this;
    running() = &next;
#if PLAIT_ASAN
    __sanitizer_start_switch_fiber(end ? nullptr : &fake_stack_, next.floor_, next.size_);
#endif
#if PLAIT_TSAN
    __tsan_switch_to_fiber(next.sanitizer_, 0);
#endif
#if defined(__x86_64__)
    void (*volatile go)(void**, void*) = &switch_stack;  // the compiler must not think that it knows what it changes
    go(&place_, next.place_);
#else
    ::swapcontext(&context_, &next.context_);
#endif
    arrived();
    *reinterpret_cast<handled_exceptions*>(abi::__cxa_get_globals()) = own;
    set_thread_worker(worker_);
    exchange_thread_floor(thread_floor_);
  }

 private:
  struct handled_exceptions {  // __cxa_eh_globals of the Itanium C++ ABI
    void* caught = nullptr;
    unsigned uncaught = 0;
  };

  static fiber*& running() noexcept {
    static constinit thread_local fiber* now = nullptr;
    return now;
  }
  void arrived() noexcept {
#if PLAIT_ASAN
    const void* floor = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(fake_stack_, &floor, &size);
    if (before_->floor_ == nullptr) {  // the thread's own stack
      before_->floor_ = static_cast<char*>(const_cast<void*>(floor));
      before_->size_ = size;
    }
#endif
  }
  static void enter() {
    auto& self = *running();
    self.arrived();
    set_thread_worker(nullptr);
    self.body_(self.argument_);
  }

  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;
  char* floor_ = nullptr;
  std::size_t size_ = 0;
#if defined(__x86_64__)
  void* place_ = nullptr;
#else
  ucontext_t context_{};
#endif
  fiber* before_ = nullptr;
  void* worker_ = nullptr;
  char* thread_floor_ = nullptr;
  [[maybe_unused]] void* fake_stack_ = nullptr;
  [[maybe_unused]] void* sanitizer_ = nullptr;
};

}  // namespace plait::base
