//===- GlobalMemory.h - the buffers of one emulated launch ----------------===//
//
// The kernel works on copies that stand far apart, so that an index gone wrong
// meets no other buffer by chance; the table of their ranges is what an access
// is checked against. Buffers that overlap in the caller's memory overlap in
// the copy too, which keeps their meaning and shows their races.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_TARGET_EMULATOR_GLOBALMEMORY_H
#define FUSION_LIB_TARGET_EMULATOR_GLOBALMEMORY_H

#include "Fault.h"
#include "ShadowMemory.h"
#include <memory>
#include <vector>

namespace fusion::runtime::emulator {

class GlobalMemory {
public:
  /// Copies what the launch may read. Fails if there is no memory for it.
  Status create(void **buffers, const int64_t *bytes, const bool *written,
                size_t numBuffers, uint32_t threadsPerBlock);

  /// The kernel's first argument.
  void **getBuffers() { return addresses.data(); }

  /// Checks and records an access. Of `fault` it sets what concerns memory.
  void access(Stamp now, uintptr_t address, int64_t bytes, bool write,
              Fault &fault);

  /// The range in terms of the buffer in whose copy or red zone it begins.
  MemoryRange locate(uintptr_t address, int64_t bytes) const;

  /// Sets `fault` if an output byte was never written.
  void checkOutputs(Fault &fault) const;

  /// Copies the outputs back to the caller.
  void copyBack() const;

private:
  /// Overlapping buffers, copied as one.
  struct Segment {
    char *source = nullptr;
    int64_t bytes = 0;
    bool written = false;
    char *copy = nullptr;
    std::unique_ptr<ShadowMemory> shadow; // of a written segment
  };
  struct Buffer {
    int32_t index = 0; // among the kernel's arguments
    char *source = nullptr;
    int64_t bytes = 0;
    bool written = false;
    size_t segment = 0;
    char *copy = nullptr;
  };

  void makeSegments();
  bool allocate();
  const Buffer *find(uintptr_t address, int64_t bytes, bool write) const;
  bool overlapsInput(const Buffer &output) const;

  std::vector<Buffer> buffers; // inputs first
  std::vector<Segment> segments;
  std::vector<void *> addresses;
  std::unique_ptr<char[]> storage;
};

} // namespace fusion::runtime::emulator

#endif // FUSION_LIB_TARGET_EMULATOR_GLOBALMEMORY_H
