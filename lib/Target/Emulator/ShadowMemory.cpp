//===- ShadowMemory.cpp - the rules of races ------------------------------===//
//
// Two accesses of a byte by different threads race if one of them is a write
// and no barrier orders them. A byte keeps one reader and whether there were
// more in its interval: a later interval of the block is ordered after all of
// them, so more need not be known.
//
//===----------------------------------------------------------------------===//

#include "ShadowMemory.h"
#include <algorithm>

using namespace fusion::runtime::emulator;

static Stamp *allocate(int64_t bytes) {
  return static_cast<Stamp *>(
      std::calloc(static_cast<size_t>(bytes > 0 ? bytes : 1), sizeof(Stamp)));
}

ShadowMemory::ShadowMemory(int64_t bytes, uint32_t threads, Rewrite rewrite)
    : writes(allocate(bytes)), reads(allocate(bytes)), threads(threads),
      rewrite(rewrite) {}

void ShadowMemory::recordRace(Stamp other, bool otherWrote,
                              Fault &fault) const {
  fault.kind = Fault::Kind::Race;
  fault.otherBlock = (other.thread - 1) / threads;
  fault.otherThread = (other.thread - 1) % threads;
  fault.otherWrote = otherWrote;
}

void ShadowMemory::recordPending(Stamp writer, Fault &fault) const {
  fault.kind = Fault::Kind::Pending;
  fault.otherThread = (writer.thread - 1) % threads;
}

void ShadowMemory::read(Stamp now, int64_t offset, int64_t bytes,
                        bool initialised, Fault &fault) {
  anyRead = true;
  for (int64_t i = offset; i < offset + bytes; ++i) {
    Stamp writer = writes[i];
    if (!isSet(writer)) {
      if (!initialised)
        fault.kind = Fault::Kind::Uninitialised;
    } else if (isPending(writer)) {
      recordPending(writer, fault);
    } else if (writer.thread != now.thread && !precedes(writer, now)) {
      recordRace(writer, /*otherWrote=*/true, fault);
    }
    if (fault) {
      fault.range.offset = i;
      fault.range.bytes = offset + bytes - i;
      return;
    }
    Stamp &reader = reads[i];
    if (!isSet(reader) || precedes(reader, now))
      reader = now;
    else if (reader.thread != now.thread)
      reader.several = 1;
  }
}

void ShadowMemory::write(Stamp now, int64_t offset, int64_t bytes,
                         Fault &fault) {
  for (int64_t i = offset; i < offset + bytes; ++i) {
    Stamp writer = writes[i];
    if (isPending(writer))
      recordPending(writer, fault);
    else if (isSet(writer) && writer.thread != now.thread &&
             (rewrite == Rewrite::Forbidden || !precedes(writer, now)))
      recordRace(writer, /*otherWrote=*/true, fault);
    Stamp reader = anyRead ? reads[i] : Stamp();
    if (!fault && isSet(reader) && !precedes(reader, now) &&
        (reader.thread != now.thread || reader.several))
      recordRace(reader, /*otherWrote=*/false, fault);
    if (fault) {
      fault.range.offset = i;
      fault.range.bytes = offset + bytes - i;
      return;
    }
    writes[i] = now;
  }
}

void ShadowMemory::begin(Stamp now, int64_t offset, int64_t bytes,
                         Fault &fault) {
  write(now, offset, bytes, fault);
  if (fault)
    return;
  now.pending = 1;
  std::fill_n(&writes[offset], bytes, now);
}

void ShadowMemory::complete(Stamp now, int64_t offset, int64_t bytes) {
  std::fill_n(&writes[offset], bytes, now);
}
