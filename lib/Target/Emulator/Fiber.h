//===- Fiber.h - cooperating contexts of execution ------------------------===//
//
// A fiber is a function with a stack of its own that runs until it suspends
// itself and goes on when resumed. The emulator needs a thousand of them for a
// block; an OS thread each would cost a thousand times as much a switch.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_TARGET_EMULATOR_FIBER_H
#define FUSION_LIB_TARGET_EMULATOR_FIBER_H

#include <cstddef>
#include <vector>
#if !defined(__x86_64__) || defined(FUSION_FIBER_UCONTEXT)
#ifndef FUSION_FIBER_UCONTEXT
#define FUSION_FIBER_UCONTEXT
#endif
#include <ucontext.h>
#endif

namespace fusion::runtime::emulator {

/// Memory for one fiber's frames, with an inaccessible page below it.
struct Stack {
  char *base = nullptr;
  static constexpr size_t size = 256 * 1024;
};

/// Stacks borrowed from a pool of the process for as long as this lives.
class StackSet {
public:
  explicit StackSet(size_t count);
  ~StackSet();
  StackSet(const StackSet &) = delete;
  StackSet &operator=(const StackSet &) = delete;

  /// False if the system refused the memory.
  bool valid() const { return ok; }
  const Stack &operator[](size_t index) const { return stacks[index]; }

private:
  std::vector<Stack> stacks;
  bool ok = true;
};

class Fiber {
public:
  /// Makes the next `resume` call `entry(argument)` on `stack`. Whatever the
  /// fiber did before is dropped, frames included, without running destructors.
  /// `entry` must not return; it ends with a `suspend` that is never resumed.
  void start(const Stack &stack, void (*entry)(void *), void *argument);

  /// Runs the fiber until it suspends.
  void resume();

  /// Called on the fiber: goes back to the caller of `resume`.
  void suspend();

private:
  static void enter(void *fiber);

  Stack stack;
  void (*entry)(void *) = nullptr;
  void *argument = nullptr;
#ifdef FUSION_FIBER_UCONTEXT
  ucontext_t self, caller;
#else
  void *self = nullptr, *caller = nullptr; // stack pointers
#endif
  // Bounds of the caller's stack, for the address sanitizer.
  [[maybe_unused]] const void *callerBase = nullptr;
  [[maybe_unused]] size_t callerSize = 0;
};

} // namespace fusion::runtime::emulator

#endif // FUSION_LIB_TARGET_EMULATOR_FIBER_H
