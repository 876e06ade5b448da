//===- Fault.h - what a kernel did wrong ----------------------------------===//
//
// Plain data: a fault is recorded on the stack of the thread that made it,
// which is then dropped without unwinding and so must own nothing. The
// scheduler turns it into a sentence afterwards.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_TARGET_EMULATOR_FAULT_H
#define FUSION_LIB_TARGET_EMULATOR_FAULT_H

#include "fusion/Runtime/Executable.h"
#include <cstdint>

namespace fusion::runtime::emulator {

/// A range of bytes in shared memory, in a buffer of the launch, or elsewhere.
struct MemoryRange {
  static constexpr int32_t shared = -1, nowhere = -2;
  int32_t buffer = nowhere; // or one of the above
  int64_t offset = 0; // from the start of the buffer; an address elsewhere
  int64_t bytes = 0;
  int64_t size = 0; // of the buffer or the shared memory
};

/// A collective operation as one thread calls it.
struct Meeting {
  enum class Kind : uint8_t { None, Barrier, Shuffle, Mma, LoadMatrix };
  Kind kind = Kind::None;
  int32_t site = 0;

  bool operator==(const Meeting &other) const {
    return kind == other.kind && site == other.site;
  }
};

struct Fault {
  enum class Kind : uint8_t {
    None,
    OutOfBounds,   // range
    ReadOnly,      // range
    Misaligned,    // range, alignment
    Uninitialised, // range
    Race,          // range, other..., otherWrote
    Pending,       // range, otherThread, whose copy it is
    Unwritten,     // range; no thread
    Divergence,    // meeting, otherThread, otherMeeting (None: it has ended)
    ShuffleWidth,  // meeting, lane holds the width
    MissingLane    // meeting, lane
  };
  Kind kind = Kind::None;
  int64_t block = 0;
  uint32_t thread = 0;

  MemoryRange range;
  bool write = false;
  int64_t alignment = 1;

  int64_t otherBlock = 0;
  uint32_t otherThread = 0;
  bool otherWrote = false;

  Meeting meeting, otherMeeting;
  int64_t lane = 0;

  explicit operator bool() const { return kind != Kind::None; }
};

/// The fault in words. `fault` is not None.
Status describe(const Fault &fault, const Kernel &kernel);

} // namespace fusion::runtime::emulator

#endif // FUSION_LIB_TARGET_EMULATOR_FAULT_H
