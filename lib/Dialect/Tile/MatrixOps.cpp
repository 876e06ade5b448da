//===- MatrixOps.cpp - verifiers of mma, load_matrix and async copies -----===//
//
// The types of fragments are derived from the kind of the mma, and compared;
// alignment depends on indices, so that only the emulator sees it.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/Fragment.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace fusion::tile;

/// A warp that lacks threads cannot work together.
static LogicalResult verifyWholeWarps(Operation *op) {
  auto kernel = op->getParentOfType<KernelOp>();
  if (!kernel || kernel.getThreads() % warpSize == 0)
    return success();
  InFlightDiagnostic error =
      op->emitOpError("needs whole warps: the kernel's threads must be a "
                      "multiple of 32, but are ")
      << kernel.getThreads();
  error.attachNote(kernel.getLoc()) << "see the kernel";
  return error;
}

/// Checks that `type`, the type of `name`, is a buffer in shared memory with a
/// dimension for each of `indices`.
static LogicalResult verifyShared(Operation *op, StringRef name, Type type,
                                  ValueRange indices) {
  auto buffer = cast<BaseMemRefType>(type);
  auto shared = dyn_cast<MemRefType>(type);
  if (!shared || !shared.hasStaticShape() || !shared.getLayout().isIdentity() ||
      !gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(shared))
    return op->emitOpError(name) << " must be a static memref in "
                                    "#gpu.address_space<workgroup>, but is "
                                 << buffer;
  if (shared.getRank() != static_cast<int64_t>(indices.size()))
    return op->emitOpError(name)
           << " must have an index for each of its " << shared.getRank()
           << " dimensions, but has " << indices.size();
  return success();
}

/// Bytes of `count` elements of a buffer; 0 where those have no size in bytes.
static int64_t getBytes(Type buffer, int64_t count) {
  Type element = cast<BaseMemRefType>(buffer).getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return 0;
  return count * element.getIntOrFloatBitWidth() / 8;
}

static bool isIn(int64_t bytes, std::initializer_list<int64_t> sizes) {
  return llvm::is_contained(sizes, bytes);
}

//===----------------------------------------------------------------------===//
// MmaOp
//===----------------------------------------------------------------------===//

LogicalResult MmaOp::verify() {
  std::tuple<StringRef, FragmentRole, Type> fragments[] = {
      {"A", FragmentRole::A, getA().getType()},
      {"B", FragmentRole::B, getB().getType()},
      {"C", FragmentRole::Accumulator, getC().getType()}};
  for (auto [name, role, type] : fragments) {
    VectorType expected = getFragmentType(getKind(), role, getContext());
    if (type != expected) // (C1)
      return emitOpError("fragment of ")
             << name << " must be " << expected << " for "
             << stringifyMmaKind(getKind()) << ", but is " << type;
  }
  return verifyWholeWarps(*this); // (C2)
}

//===----------------------------------------------------------------------===//
// LoadMatrixOp
//===----------------------------------------------------------------------===//

int64_t LoadMatrixOp::getNumMatrices() {
  auto result = cast<VectorType>(getResult().getType());
  return getBytes(getBuffer().getType(), result.getNumElements()) / 4;
}

LogicalResult LoadMatrixOp::verify() {
  Type buffer = getBuffer().getType();
  if (failed(verifyShared(*this, "buffer", buffer, getIndices()))) // (C1)
    return failure();
  int64_t elementBytes = getBytes(buffer, /*count=*/1);
  if (!isIn(elementBytes, {1, 2, 4})) // (C1)
    return emitOpError("buffer must have elements of 8, 16 or 32 bits, but is ")
           << buffer;

  auto result = cast<VectorType>(getResult().getType());
  Type element = cast<MemRefType>(buffer).getElementType();
  if (result.getRank() != 1 || result.isScalable() ||
      result.getElementType() != element ||
      !isIn(result.getNumElements() * elementBytes, {4, 8, 16})) // (C2)
    return emitOpError("result must be a vector of ")
           << element << " of 4, 8 or 16 bytes, one, two or four matrices, but "
           << "is " << result;
  if (getTransposed() && elementBytes != 2) // (C3)
    return emitOpError("transposes elements of 16 bits only, but has ")
           << element;
  return verifyWholeWarps(*this); // (C4)
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

int64_t AsyncCopyOp::getNumBytes() {
  return getBytes(getSource().getType(), static_cast<int64_t>(getCount()));
}

LogicalResult AsyncCopyOp::verify() {
  auto source = dyn_cast<MemRefType>(getSource().getType());
  if (!source || source.getRank() != 1 || !source.isDynamicDim(0) ||
      !source.getLayout().isIdentity() || source.getMemorySpace()) // (C1)
    return emitOpError("source must be a flat buffer memref<?xT>, but is ")
           << getSource().getType();
  Type destination = getDestination().getType();
  if (failed(verifyShared(*this, "destination", destination,
                          getIndices()))) // (C1) (C2)
    return failure();
  Type element = cast<MemRefType>(destination).getElementType();
  if (source.getElementType() != element) // (C1)
    return emitOpError("must copy elements as they are, but the source holds ")
           << source.getElementType() << " and the destination " << element;
  if (!isIn(getNumBytes(), {4, 8, 16})) // (C3)
    return emitOpError("must copy 4, 8 or 16 bytes, but ")
           << getCount() << " elements of " << element << " are "
           << getNumBytes();
  return success();
}

LogicalResult AsyncWaitOp::verify() {
  auto pending = static_cast<int64_t>(getPending());
  if (pending < 0) // (C1)
    return emitOpError("pending must not be negative, but is ") << pending;
  return success();
}
