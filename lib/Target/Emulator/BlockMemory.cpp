//===- BlockMemory.cpp - what the threads of a block access ---------------===//
//
// An access is checked for its bounds, then by the shadow of the memory, then
// for its alignment. Matrices are loaded by a warp, row by row; asynchronous
// copies reserve their destination until the wait that makes them.
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include <cstring>

using namespace fusion::runtime;
using namespace fusion::runtime::emulator;

Stamp Block::getStamp(const Thread &self) const {
  return Stamp(static_cast<uint32_t>(id * all.size + self.index + 1), interval);
}

void Block::access(Thread &self, uintptr_t address, int64_t bytes,
                   AccessKind kind, bool shared, int64_t alignment) {
  if (bytes == 0)
    return;
  Stamp now = getStamp(self);
  if (shared)
    accessShared(now, address, bytes, kind);
  else
    memory.access(now, address, bytes, kind != AccessKind::Read, fault);
  if (!fault)
    checkAlignment(address, bytes, shared, alignment);
  if (fault) {
    fault.write = kind != AccessKind::Read;
    fail(self);
  }
}

void Block::checkAlignment(uintptr_t address, int64_t bytes, bool shared,
                           int64_t alignment) {
  if (address % alignment == 0)
    return;
  fault.kind = Fault::Kind::Misaligned;
  fault.alignment = alignment;
  fault.range =
      shared ? locateShared(address, bytes) : memory.locate(address, bytes);
}

MemoryRange Block::locateShared(uintptr_t address, int64_t bytes) const {
  auto base = reinterpret_cast<uintptr_t>(sharedMemory);
  return {MemoryRange::shared, static_cast<int64_t>(address - base), bytes,
          info.sharedBytes};
}

void Block::accessShared(Stamp now, uintptr_t address, int64_t bytes,
                         AccessKind kind) {
  MemoryRange range = locateShared(address, bytes);
  if (range.offset < 0 || range.offset > range.size - bytes) {
    fault.kind = Fault::Kind::OutOfBounds;
    fault.range = range;
    return;
  }
  switch (kind) {
  case AccessKind::Read:
    shadow.read(now, range.offset, bytes, /*initialised=*/false, fault);
    break;
  case AccessKind::Write:
    shadow.write(now, range.offset, bytes, fault);
    break;
  case AccessKind::BeginCopy:
    shadow.begin(now, range.offset, bytes, fault);
    break;
  }
  if (fault) {
    fault.range.buffer = MemoryRange::shared;
    fault.range.size = range.size;
  }
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

void Block::distributeMatrices(Thread *lanes, int32_t count, bool transposed) {
  for (int32_t lane = 0; lane < matrixRows * count && !fault; ++lane)
    checkMatrixRow(lanes[lane]);
  for (int32_t lane = 0; lane < int32_t(warpSize) && !fault; ++lane)
    for (int32_t matrix = 0; matrix < count && !fault; ++matrix)
      receiveMatrix(lanes, lane, matrix, transposed);
}

void Block::checkMatrixRow(const Thread &lane) {
  uintptr_t row = lane.matrixRow.address;
  MemoryRange range = locateShared(row, matrixRowBytes);
  if (range.offset < 0 || range.offset > range.size - range.bytes) {
    fault.kind = Fault::Kind::OutOfBounds;
    fault.range = range;
  } else {
    checkAlignment(row, matrixRowBytes, /*shared=*/true, matrixRowBytes);
  }
  if (fault) {
    fault.block = id;
    fault.thread = lane.index;
  }
}

void Block::receiveMatrix(Thread *lanes, int32_t lane, int32_t matrix,
                          bool transposed) {
  const Thread *rows = lanes + matrix * matrixRows;
  char *result = static_cast<char *>(lanes[lane].matrixRow.result) + 4 * matrix;
  auto read = [&](int32_t row, int32_t offset, int32_t bytes) {
    if (fault)
      return;
    uintptr_t address = rows[row].matrixRow.address + offset;
    accessShared(getStamp(lanes[lane]), address, bytes, AccessKind::Read);
    std::memcpy(result, reinterpret_cast<const void *>(address), bytes);
    result += bytes;
  };
  if (transposed) {
    read(lane % 4 * 2, lane / 4 * 2, 2);
    read(lane % 4 * 2 + 1, lane / 4 * 2, 2);
  } else {
    read(lane / 4, lane % 4 * 4, 4);
  }
  if (fault) {
    fault.block = id;
    fault.thread = lanes[lane].index;
  }
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

void Block::copyAsync(Thread &self, const AsyncCopy &copy) {
  if (copy.source)
    access(self, reinterpret_cast<uintptr_t>(copy.source), copy.bytes,
           AccessKind::Read, /*shared=*/false, copy.bytes);
  access(self, reinterpret_cast<uintptr_t>(copy.destination), copy.bytes,
         AccessKind::BeginCopy, /*shared=*/true, copy.bytes);
  self.copies.issue(copy);
}

void Block::waitForCopies(Thread &self, size_t pending) {
  Stamp now = getStamp(self);
  self.copies.complete(pending, [&](const AsyncCopy &copy) {
    if (copy.source)
      std::memcpy(copy.destination, copy.source, copy.bytes);
    else
      std::memset(copy.destination, 0, copy.bytes);
    shadow.complete(now, copy.destination - sharedMemory, copy.bytes);
  });
}
