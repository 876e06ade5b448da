//===- Program.h - a plan's kernels, loaded on their target ---------------===//

#ifndef FUSION_LIB_RUNTIME_PROGRAM_H
#define FUSION_LIB_RUNTIME_PROGRAM_H

#include "CallShape.h"
#include <memory>

namespace fusion::runtime {

/// One call, checked and evaluated.
struct Call {
  const CallShape &shape;
  const fusion_tensor *arguments;
  const fusion_tensor *results;
  void *stream;
  const fusion_allocator *workspace; // or null
};

/// The target's side of an executable. `run` is safe on several threads.
class Program {
public:
  virtual ~Program() = default;
  virtual Status run(const Call &call) = 0;
};

/// For the CPU and the emulator: loads at once. The plan must outlive the
/// program.
Status createHostProgram(const Plan &plan, std::unique_ptr<Program> &program);
/// For a GPU: loads in each context at the first run there, so that code for
/// another machine can be compiled and saved.
std::unique_ptr<Program> createCudaProgram(const Plan &plan,
                                           CacheOptions cache);

/// Pointers to a launch's buffers. Few are stored in place.
class BufferList {
public:
  BufferList(const Launch &launch, const Call &call, void *const *constants,
             char *arena) {
    if (launch.buffers.size() > inPlace) {
      large.resize(launch.buffers.size());
      pointers = large.data();
    }
    for (size_t i = 0; i < launch.buffers.size(); ++i)
      pointers[i] = find(launch.buffers[i], call, constants, arena);
  }
  BufferList(const BufferList &) = delete;
  BufferList &operator=(const BufferList &) = delete;
  void **data() { return pointers; }

private:
  static void *find(BufferRef ref, const Call &call, void *const *constants,
                    char *arena) {
    switch (ref.kind) {
    case BufferRef::Kind::Argument:
      return call.arguments[ref.index].data;
    case BufferRef::Kind::Result:
      return call.results[ref.index].data;
    case BufferRef::Kind::Constant:
      return constants[ref.index];
    case BufferRef::Kind::Temporary:
      break;
    }
    return arena ? arena + call.shape.arena.offsets[ref.index] : nullptr;
  }

  static constexpr size_t inPlace = 24;
  void *small[inPlace];
  std::vector<void *> large;
  void **pointers = small;
};

} // namespace fusion::runtime

#endif // FUSION_LIB_RUNTIME_PROGRAM_H
