//===- GlobalMemory.cpp - copies of buffers, and their checks -------------===//
//
// An access is allowed if one buffer holds the whole of it, and if it is a read
// or the buffer an output. Reads look at inputs first: an input's bytes are
// initialised, an output's only once written.
//
//===----------------------------------------------------------------------===//

#include "GlobalMemory.h"
#include <algorithm>
#include <cstring>
#include <new>
#include <tuple>

using namespace fusion::runtime;
using namespace fusion::runtime::emulator;

/// Copies keep their address modulo this, hence the caller's alignment.
static constexpr uintptr_t phase = 256;
/// Least distance of two copies, in bytes; no less than the copy's own size.
static constexpr uintptr_t minRedZone = 64 * 1024;

Status GlobalMemory::create(void **sources, const int64_t *bytes,
                            const bool *written, size_t numBuffers,
                            uint32_t threadsPerBlock) {
  for (bool outputs : {false, true})
    for (size_t i = 0; i < numBuffers; ++i)
      if (written[i] == outputs)
        buffers.push_back({static_cast<int32_t>(i),
                           static_cast<char *>(sources[i]), bytes[i], outputs,
                           0, nullptr});
  makeSegments();
  bool ok = allocate();
  for (Segment &segment : segments) {
    if (!ok || !segment.written)
      continue;
    segment.shadow = std::make_unique<ShadowMemory>(
        segment.bytes, threadsPerBlock, ShadowMemory::Rewrite::Forbidden);
    ok = segment.shadow->valid();
  }
  if (!ok)
    return Status::error("memory",
                         "no memory for the emulator's copies of the "
                         "launch's buffers",
                         "emulate smaller sizes; the emulator needs up to 20 "
                         "times the memory of the tensors");
  addresses.resize(numBuffers);
  for (Buffer &buffer : buffers) {
    const Segment &segment = segments[buffer.segment];
    buffer.copy = segment.copy + (buffer.source - segment.source);
    addresses[buffer.index] = buffer.copy;
    if (!buffer.written && buffer.bytes > 0)
      std::memcpy(buffer.copy, buffer.source, buffer.bytes);
  }
  return Status::success();
}

/// Joins buffers that share bytes. Buffers that only touch stay apart, and
/// empty ones, sorted last, share nothing.
void GlobalMemory::makeSegments() {
  std::vector<Buffer *> order;
  for (Buffer &buffer : buffers)
    order.push_back(&buffer);
  std::sort(order.begin(), order.end(), [](Buffer *a, Buffer *b) {
    return std::make_tuple(a->bytes == 0, a->source, a->index) <
           std::make_tuple(b->bytes == 0, b->source, b->index);
  });
  for (Buffer *buffer : order) {
    bool joins =
        !segments.empty() && buffer->bytes > 0 &&
        buffer->source < segments.back().source + segments.back().bytes;
    if (!joins) {
      segments.emplace_back();
      segments.back().source = buffer->source;
    }
    Segment &segment = segments.back();
    segment.bytes = std::max(segment.bytes,
                             buffer->source + buffer->bytes - segment.source);
    segment.written |= buffer->written;
    buffer->segment = segments.size() - 1;
  }
}

/// Places the segments' copies in one allocation, most of which is red zone and
/// never touched.
bool GlobalMemory::allocate() {
  std::vector<uintptr_t> offsets;
  uintptr_t end = 0;
  for (const Segment &segment : segments) {
    uintptr_t redZone = std::max<uintptr_t>(minRedZone, segment.bytes);
    uintptr_t begin = (end + redZone + phase - 1) / phase * phase +
                      reinterpret_cast<uintptr_t>(segment.source) % phase;
    offsets.push_back(begin);
    end = begin + segment.bytes + redZone;
  }
  storage.reset(new (std::nothrow) char[end + phase]);
  if (!storage)
    return false;
  auto base = reinterpret_cast<uintptr_t>(storage.get());
  char *aligned = storage.get() + (phase - base % phase) % phase;
  for (size_t i = 0; i < segments.size(); ++i)
    segments[i].copy = aligned + offsets[i];
  return true;
}

static bool contains(const char *begin, int64_t size, uintptr_t address,
                     int64_t bytes) {
  auto first = reinterpret_cast<uintptr_t>(begin);
  return address >= first && bytes <= size &&
         address - first <= static_cast<uintptr_t>(size - bytes);
}

const GlobalMemory::Buffer *GlobalMemory::find(uintptr_t address, int64_t bytes,
                                               bool write) const {
  for (const Buffer &buffer : buffers)
    if (buffer.written >= write &&
        contains(buffer.copy, buffer.bytes, address, bytes))
      return &buffer;
  return nullptr;
}

MemoryRange GlobalMemory::locate(uintptr_t address, int64_t bytes) const {
  MemoryRange range;
  range.bytes = bytes;
  range.offset = static_cast<int64_t>(address);
  uintptr_t nearest = UINTPTR_MAX;
  for (const Buffer &buffer : buffers) {
    auto begin = reinterpret_cast<uintptr_t>(buffer.copy);
    uintptr_t end = begin + buffer.bytes;
    uintptr_t distance = address < begin ? begin - address
                         : address < end ? 0
                                         : address - end;
    uintptr_t reach = std::max<uintptr_t>(minRedZone, buffer.bytes);
    if (distance >= nearest || distance > reach)
      continue;
    nearest = distance;
    range.buffer = buffer.index;
    range.offset = static_cast<int64_t>(address - begin);
    range.size = buffer.bytes;
  }
  return range;
}

void GlobalMemory::access(Stamp now, uintptr_t address, int64_t bytes,
                          bool write, Fault &fault) {
  const Buffer *buffer = find(address, bytes, write);
  if (!buffer) {
    bool readable = write && find(address, bytes, /*write=*/false);
    fault.kind = readable ? Fault::Kind::ReadOnly : Fault::Kind::OutOfBounds;
    fault.range = locate(address, bytes);
    return;
  }
  Segment &segment = segments[buffer->segment];
  if (!segment.shadow)
    return;
  auto offset =
      static_cast<int64_t>(address - reinterpret_cast<uintptr_t>(segment.copy));
  if (write)
    segment.shadow->write(now, offset, bytes, fault);
  else
    segment.shadow->read(now, offset, bytes, !buffer->written, fault);
  if (fault) {
    fault.range.buffer = buffer->index;
    fault.range.offset += segment.copy - buffer->copy;
    fault.range.size = buffer->bytes;
  }
}

bool GlobalMemory::overlapsInput(const Buffer &output) const {
  return std::any_of(buffers.begin(), buffers.end(), [&](const Buffer &other) {
    return !other.written && other.bytes > 0 &&
           other.source < output.source + output.bytes &&
           output.source < other.source + other.bytes;
  });
}

void GlobalMemory::checkOutputs(Fault &fault) const {
  for (const Buffer &buffer : buffers) {
    // What an output shares with an input has a value without being written.
    if (!buffer.written || overlapsInput(buffer))
      continue;
    const Segment &segment = segments[buffer.segment];
    int64_t begin = buffer.copy - segment.copy;
    auto isWritten = [&](int64_t byte) {
      return segment.shadow->isWritten(begin + byte);
    };
    int64_t first = 0;
    while (first < buffer.bytes && isWritten(first))
      ++first;
    if (first == buffer.bytes)
      continue;
    int64_t end = first;
    while (end < buffer.bytes && !isWritten(end))
      ++end;
    fault.kind = Fault::Kind::Unwritten;
    fault.range = {buffer.index, first, end - first, buffer.bytes};
    return;
  }
}

void GlobalMemory::copyBack() const {
  for (const Buffer &buffer : buffers)
    if (buffer.written && buffer.bytes > 0)
      std::memcpy(buffer.source, buffer.copy, buffer.bytes);
}
