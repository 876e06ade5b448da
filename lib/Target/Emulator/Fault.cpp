//===- Fault.cpp - faults in words ----------------------------------------===//
//
// One sentence each: who (kernel, block, thread), what, where, and the rule
// that was broken.
//
//===----------------------------------------------------------------------===//

#include "Fault.h"

using namespace fusion::runtime;
using namespace fusion::runtime::emulator;

static std::string text(int64_t value) { return std::to_string(value); }

/// "bytes 4 to 7 of buffer 1".
static std::string describe(const MemoryRange &range) {
  std::string first = text(range.offset);
  std::string place = range.buffer == MemoryRange::nowhere
                          ? "memory"
                          : "buffer " + text(range.buffer);
  if (range.buffer == MemoryRange::shared)
    place = "shared memory";
  if (range.bytes == 1)
    return "byte " + first + " of " + place;
  return "bytes " + first + " to " + text(range.offset + range.bytes - 1) +
         " of " + place;
}

static std::string describe(const Meeting &meeting) {
  static constexpr const char *names[] = {"", "barrier ", "shuffle ", "mma ",
                                          "load_matrix "};
  return names[static_cast<size_t>(meeting.kind)] + text(meeting.site);
}

static std::string describeOutOfBounds(const Fault &fault,
                                       const std::string &verb) {
  if (fault.range.buffer == MemoryRange::nowhere)
    return verb + text(fault.range.bytes) + " bytes at address " +
           text(fault.range.offset) + ", outside of every buffer of the launch";
  return verb + describe(fault.range) + ", which has " +
         text(fault.range.size) + " bytes";
}

static std::string describeRace(const Fault &fault, const std::string &verb) {
  std::string other = "thread " + text(fault.otherThread);
  if (fault.otherBlock != fault.block)
    other += " of block " + text(fault.otherBlock);
  else if (fault.otherThread == fault.thread)
    other = "another thread"; // the shadow names one reader of several
  std::string rule = fault.range.buffer == MemoryRange::shared
                         ? " with no barrier between"
                         : " in the same launch";
  return verb + describe(fault.range) + ", which " + other +
         (fault.otherWrote ? " wrote" : " read") + rule + ": a data race";
}

static std::string describeDivergence(const Fault &fault) {
  bool ended = fault.otherMeeting.kind == Meeting::Kind::None;
  return "waits at " + describe(fault.meeting) + ", but thread " +
         text(fault.otherThread) + " of its " +
         (fault.meeting.kind == Meeting::Kind::Barrier ? "block" : "warp") +
         (ended ? " has ended" : " waits at " + describe(fault.otherMeeting)) +
         ": divergent control flow";
}

/// What the thread did, as the predicate of a sentence.
static std::string describePredicate(const Fault &fault) {
  std::string verb = fault.write ? "writes " : "reads ";
  switch (fault.kind) {
  case Fault::Kind::None:
    break;
  case Fault::Kind::OutOfBounds:
    return describeOutOfBounds(fault, verb);
  case Fault::Kind::ReadOnly:
    return verb + describe(fault.range) + ", which the launch only reads";
  case Fault::Kind::Misaligned:
    return verb + describe(fault.range) + ", relying on an alignment of " +
           text(fault.alignment) + " bytes that the address lacks";
  case Fault::Kind::Uninitialised:
    return verb + describe(fault.range) + ", which nothing has written";
  case Fault::Kind::Race:
    return describeRace(fault, verb);
  case Fault::Kind::Pending:
    return verb + describe(fault.range) +
           ", to which an asynchronous copy of thread " +
           text(fault.otherThread) + " is under way: a wait is missing";
  case Fault::Kind::Unwritten:
    return "ends without having written " + describe(fault.range);
  case Fault::Kind::Divergence:
    return describeDivergence(fault);
  case Fault::Kind::ShuffleWidth:
    return "calls " + describe(fault.meeting) + " with a width of " +
           text(fault.lane) + ", which is not a power of two up to 32";
  case Fault::Kind::MissingLane:
    return "receives from lane " + text(fault.lane) + " at " +
           describe(fault.meeting) + ", a lane that its warp lacks";
  }
  return "";
}

Status emulator::describe(const Fault &fault, const Kernel &kernel) {
  std::string subject = "emulated kernel '" + kernel.name + "'";
  if (fault.kind != Fault::Kind::Unwritten)
    subject +=
        ", block " + text(fault.block) + ", thread " + text(fault.thread) + ":";
  return Status::error("device", subject + " " + describePredicate(fault),
                       "this is a defect of the compiler; please report it "
                       "together with the graph");
}
