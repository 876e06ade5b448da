//===- Fiber.cpp - context switch and stacks ------------------------------===//
//
// On x86-64 a switch saves the registers that the System V ABI makes a callee
// preserve and exchanges stack pointers: some ten instructions. ucontext, used
// elsewhere, makes two system calls a switch to save a signal mask that fibers
// never change.
//
//===----------------------------------------------------------------------===//

#include "Fiber.h"
#include <cstdint>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define FUSION_FIBER_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FUSION_FIBER_ASAN
#endif
#endif
#ifdef FUSION_FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

using namespace fusion::runtime::emulator;

//===----------------------------------------------------------------------===//
// Stacks
//===----------------------------------------------------------------------===//

namespace {
/// Free stacks. Kept for the life of the process: a launch touches each stack's
/// top pages, and mapping them anew costs more than running most test kernels.
struct StackPool {
  std::mutex mutex;
  std::vector<Stack> free;

  static StackPool &get() {
    static StackPool *pool = new StackPool();
    return *pool;
  }
};
} // namespace

/// A new stack, or one with a null base.
static Stack mapStack() {
  size_t guard = sysconf(_SC_PAGESIZE);
  void *memory =
      mmap(nullptr, guard + Stack::size, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    return {};
  if (mprotect(memory, guard, PROT_NONE) != 0) {
    munmap(memory, guard + Stack::size);
    return {};
  }
  return {static_cast<char *>(memory) + guard};
}

StackSet::StackSet(size_t count) {
  StackPool &pool = StackPool::get();
  {
    std::lock_guard<std::mutex> lock(pool.mutex);
    size_t reused = count < pool.free.size() ? count : pool.free.size();
    stacks.assign(pool.free.end() - reused, pool.free.end());
    pool.free.resize(pool.free.size() - reused);
  }
  while (ok && stacks.size() < count) {
    Stack stack = mapStack();
    ok = stack.base != nullptr;
    if (ok)
      stacks.push_back(stack);
  }
}

StackSet::~StackSet() {
  StackPool &pool = StackPool::get();
  std::lock_guard<std::mutex> lock(pool.mutex);
  pool.free.insert(pool.free.end(), stacks.begin(), stacks.end());
}

//===----------------------------------------------------------------------===//
// Switching
//===----------------------------------------------------------------------===//

#ifndef FUSION_FIBER_UCONTEXT
extern "C" {
/// Saves the caller's registers and stack pointer in `*save`, then goes on
/// where the context `resume` was saved.
void fusion_fiber_swap(void **save, void *resume);
/// First code of a fiber: calls %r13 with argument %r12.
void fusion_fiber_enter(void);
}
asm(R"(
  .text
  .hidden fusion_fiber_swap
  .globl fusion_fiber_swap
  .type fusion_fiber_swap,@function
fusion_fiber_swap:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size fusion_fiber_swap,.-fusion_fiber_swap

  .hidden fusion_fiber_enter
  .globl fusion_fiber_enter
  .type fusion_fiber_enter,@function
fusion_fiber_enter:
  .cfi_startproc
  .cfi_undefined rip
  movq %r12, %rdi
  callq *%r13
  ud2
  .cfi_endproc
  .size fusion_fiber_enter,.-fusion_fiber_enter
)");
#endif

void Fiber::start(const Stack &newStack, void (*newEntry)(void *),
                  void *newArgument) {
  stack = newStack;
  entry = newEntry;
  argument = newArgument;
#ifdef FUSION_FIBER_ASAN
  // Dropped frames leave their red zones poisoned.
  ASAN_UNPOISON_MEMORY_REGION(stack.base, Stack::size);
#endif
#ifdef FUSION_FIBER_UCONTEXT
  getcontext(&self);
  self.uc_stack.ss_sp = stack.base;
  self.uc_stack.ss_size = Stack::size;
  self.uc_link = nullptr;
  // makecontext passes ints only, so the pointer travels in two halves.
  auto bits = reinterpret_cast<uintptr_t>(this);
  auto enterHalves = +[](unsigned high, unsigned low) {
    Fiber::enter(reinterpret_cast<void *>(
        static_cast<uintptr_t>(uint64_t(high) << 32 | low)));
  };
  makecontext(&self, reinterpret_cast<void (*)()>(enterHalves), 2,
              static_cast<unsigned>(uint64_t(bits) >> 32),
              static_cast<unsigned>(bits));
#else
  // What fusion_fiber_swap pops: r15, r14, r13, r12, rbx, rbp and the return
  // address. After its `ret` the stack is aligned to 16, as a call needs it.
  uintptr_t frame[8] = {};
  frame[2] = reinterpret_cast<uintptr_t>(&Fiber::enter);
  frame[3] = reinterpret_cast<uintptr_t>(this);
  frame[6] = reinterpret_cast<uintptr_t>(&fusion_fiber_enter);
  char *top = stack.base + Stack::size - sizeof(frame) - sizeof(uintptr_t);
  std::memcpy(top, frame, sizeof(frame));
  self = top;
#endif
}

void Fiber::enter(void *pointer) {
  auto *fiber = static_cast<Fiber *>(pointer);
#ifdef FUSION_FIBER_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &fiber->callerBase,
                                  &fiber->callerSize);
#endif
  fiber->entry(fiber->argument);
}

void Fiber::resume() {
#ifdef FUSION_FIBER_ASAN
  void *fakeStack = nullptr;
  __sanitizer_start_switch_fiber(&fakeStack, stack.base, Stack::size);
#endif
#ifdef FUSION_FIBER_UCONTEXT
  swapcontext(&caller, &self);
#else
  fusion_fiber_swap(&caller, self);
#endif
#ifdef FUSION_FIBER_ASAN
  __sanitizer_finish_switch_fiber(fakeStack, nullptr, nullptr);
#endif
}

void Fiber::suspend() {
#ifdef FUSION_FIBER_ASAN
  void *fakeStack = nullptr;
  __sanitizer_start_switch_fiber(&fakeStack, callerBase, callerSize);
#endif
#ifdef FUSION_FIBER_UCONTEXT
  swapcontext(&self, &caller);
#else
  fusion_fiber_swap(&self, caller);
#endif
#ifdef FUSION_FIBER_ASAN
  __sanitizer_finish_switch_fiber(fakeStack, &callerBase, &callerSize);
#endif
}
