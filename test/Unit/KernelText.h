//===- KernelText.h - kernels written as text, converted to LLVM ----------===//

#ifndef FUSION_TEST_UNIT_KERNELTEXT_H
#define FUSION_TEST_UNIT_KERNELTEXT_H

#include "fusion/Conversion/Passes.h"
#include "fusion/Dialect/Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

namespace fusion::test {

/// A module of kernels with the context that it lives in, and the errors that
/// were emitted on it.
class KernelText {
public:
  explicit KernelText(llvm::StringRef text)
      : context(createRegistry()),
        handler(&context, [this](mlir::Diagnostic &d) { errors += d.str(); }) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }

  /// Converts all kernels for `target`; returns whether that worked.
  bool convert(KernelTarget target) {
    if (!module)
      return false;
    mlir::PassManager passes(&context);
    passes.addNestedPass<tile::KernelOp>(createTileExpandReduce());
    passes.addPass(createConvertTileToLLVM({target}));
    return mlir::succeeded(passes.run(*module));
  }

  mlir::ModuleOp getModule() { return *module; }
  const std::string &getErrors() const { return errors; }

private:
  static mlir::DialectRegistry createRegistry() {
    mlir::DialectRegistry registry;
    registry.insert<tile::TileDialect, mlir::arith::ArithDialect,
                    mlir::gpu::GPUDialect, mlir::math::MathDialect,
                    mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                    mlir::vector::VectorDialect>();
    return registry;
  }

  mlir::MLIRContext context;
  std::string errors;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace fusion::test

#endif // FUSION_TEST_UNIT_KERNELTEXT_H
