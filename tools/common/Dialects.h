//===- Dialects.h - what the text tools read ------------------------------===//
//
// Every dialect that occurs between a graph and LLVM IR. Linked by
// FUSION_DIALECT_LIBRARIES of the build.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_COMMON_DIALECTS_H
#define FUSION_TOOLS_COMMON_DIALECTS_H

#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace fusion::tools {

inline void registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<FusionDialect, tile::TileDialect, mlir::affine::AffineDialect,
                  mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                  mlir::func::FuncDialect, mlir::gpu::GPUDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                  mlir::vector::VectorDialect>();
}

} // namespace fusion::tools

#endif // FUSION_TOOLS_COMMON_DIALECTS_H
