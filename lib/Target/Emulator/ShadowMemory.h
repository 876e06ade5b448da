//===- ShadowMemory.h - who touched a byte last ---------------------------===//
//
// For each byte of a memory: its last writer and its last readers, with the
// barrier interval in which they came. That is enough to find every race whose
// two accesses this run makes, in whatever order it makes them, where the only
// synchronisation is a barrier of the whole block. Finer synchronisation needs
// a finer `precedes`, nothing else. A byte to which an asynchronous copy is
// under way is nobody's to touch.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_TARGET_EMULATOR_SHADOWMEMORY_H
#define FUSION_LIB_TARGET_EMULATOR_SHADOWMEMORY_H

#include "Fault.h"
#include <cstdlib>
#include <memory>

namespace fusion::runtime::emulator {

/// When and by whom: a thread of the launch in a barrier interval. Intervals
/// count up over the whole launch, since blocks run one after the other. All
/// bits zero means never.
struct Stamp {
  uint32_t thread = 0;    // number in the launch, plus 1
  uint32_t interval : 30; // from 1
  uint32_t several : 1;   // readers: other threads of the interval, too
  uint32_t pending : 1;   // writer: an asynchronous copy that may yet write
  Stamp() : interval(0), several(0), pending(0) {}
  Stamp(uint32_t thread, uint32_t interval)
      : thread(thread), interval(interval), several(0), pending(0) {}
};

class ShadowMemory {
public:
  /// How writes by two threads that a barrier separates are to be seen.
  enum class Rewrite : bool { Forbidden, AfterBarrier };

  /// `threads` is the number of threads a block. Check `valid` before use.
  ShadowMemory(int64_t bytes, uint32_t threads, Rewrite rewrite);
  bool valid() const { return writes && reads; }

  /// Makes all bytes as if never touched; no later interval is below `next`.
  void forget(uint32_t next) { firstInterval = next; }

  /// Records an access of a range that lies within the memory; of `fault` sets
  /// the kind, the other thread, and the offending rest of the range, counted
  /// from the start of this memory. With `initialised`, bytes never written may
  /// be read.
  void read(Stamp now, int64_t offset, int64_t bytes, bool initialised,
            Fault &fault);
  void write(Stamp now, int64_t offset, int64_t bytes, Fault &fault);

  /// Records that an asynchronous copy begins, which writes at any time until
  /// it ends at `complete`.
  void begin(Stamp now, int64_t offset, int64_t bytes, Fault &fault);
  void complete(Stamp now, int64_t offset, int64_t bytes);

  bool isWritten(int64_t offset) const { return isSet(writes[offset]); }

private:
  bool isSet(Stamp stamp) const {
    return stamp.thread != 0 && stamp.interval >= firstInterval;
  }
  /// Whether a barrier orders `earlier` before `now`.
  bool precedes(Stamp earlier, Stamp now) const {
    return earlier.interval < now.interval &&
           (earlier.thread - 1) / threads == (now.thread - 1) / threads;
  }

  bool isPending(Stamp writer) const { return isSet(writer) && writer.pending; }

  void recordRace(Stamp other, bool otherWrote, Fault &fault) const;
  void recordPending(Stamp writer, Fault &fault) const;

  struct Free {
    void operator()(Stamp *stamps) const { std::free(stamps); }
  };
  // From calloc, whose pages cost nothing until touched: most outputs are
  // never read.
  std::unique_ptr<Stamp[], Free> writes, reads;
  uint32_t threads;
  Rewrite rewrite;
  bool anyRead = false;
  uint32_t firstInterval = 0;
};

} // namespace fusion::runtime::emulator

#endif // FUSION_LIB_TARGET_EMULATOR_SHADOWMEMORY_H
