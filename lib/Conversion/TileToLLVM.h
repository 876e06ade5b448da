//===- TileToLLVM.h - the parts of convert-tile-to-llvm -------------------===//
//
// The conversion of one kernel is a row of steps over its body, then one
// dialect conversion whose patterns come from the files beside this header:
// memory accesses, threads, and the kernel's function itself.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_TILETOLLVM_H
#define FUSION_LIB_CONVERSION_TILETOLLVM_H

#include "fusion/Conversion/Passes.h"
#include "fusion/Dialect/Tile/TileDialect.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace fusion::conversion {

/// Offset in bytes of a tile.shared in the block's shared memory.
inline constexpr llvm::StringLiteral offsetAttrName = "tile.offset";
/// Number of what threads do together within its kernel, for the emulator.
inline constexpr llvm::StringLiteral siteAttrName = "tile.site";

/// What patterns know of the kernel's target, as base of theirs.
struct TargetInfo {
  KernelTarget target;
  bool isCPU() const { return target == KernelTarget::CPU; }
  bool isNVVM() const { return target == KernelTarget::NVVM; }
  bool isEmulator() const { return target == KernelTarget::Emulator; }
};

/// Rewrites what no target converts directly: vector ops on several dimensions,
/// roundings to 16 bits, wide shuffles, functions that a library provides.
llvm::LogicalResult legalizeBody(tile::KernelOp kernel, KernelTarget target);

/// Declares the functions of Target/Emulator.h.
void declareEmulatorRuntime(mlir::ModuleOp module);

/// Functions named `name` of Target/Emulator.h, called for the thread that runs
/// `op`. Returns the result, or null.
mlir::Value callEmulator(mlir::OpBuilder &builder, mlir::Operation *op,
                         llvm::StringRef name, mlir::ValueRange arguments,
                         mlir::Type result = {});

/// Types: buffers become bare pointers, bfloat16 the integer of its bits where
/// the hardware has no registers for it.
void addTypeConversions(mlir::LLVMTypeConverter &converter, TargetInfo target);

void populateKernelPatterns(const mlir::LLVMTypeConverter &converter,
                            TargetInfo target,
                            mlir::RewritePatternSet &patterns);
void populateMemoryPatterns(const mlir::LLVMTypeConverter &converter,
                            TargetInfo target,
                            mlir::RewritePatternSet &patterns);
void populateThreadPatterns(const mlir::LLVMTypeConverter &converter,
                            TargetInfo target,
                            mlir::RewritePatternSet &patterns);
void populateMatrixPatterns(const mlir::LLVMTypeConverter &converter,
                            TargetInfo target,
                            mlir::RewritePatternSet &patterns);
void populateAsyncPatterns(const mlir::LLVMTypeConverter &converter,
                           TargetInfo target,
                           mlir::RewritePatternSet &patterns);

/// Address of the element at `indices` of the buffer at `base`.
mlir::Value createAddress(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::MemRefType type, mlir::Value base,
                          mlir::ValueRange indices);

/// Constant of an LLVM integer type.
mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Type type, int64_t value);

} // namespace fusion::conversion

#endif // FUSION_LIB_CONVERSION_TILETOLLVM_H
