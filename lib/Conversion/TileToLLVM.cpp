//===- TileToLLVM.cpp - kernels become functions of the LLVM dialect ------===//
//
// Drives the conversion kernel by kernel, since the width of an index is the
// kernel's own. Upstream patterns convert what works on values; memory, threads
// and the function around them differ by target and are converted here, without
// memref descriptors: a flat buffer is a pointer.
//
//===----------------------------------------------------------------------===//

#include "TileToLLVM.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

namespace fusion {
#define GEN_PASS_DEF_CONVERTTILETOLLVM
#include "fusion/Conversion/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion;
using namespace fusion::conversion;

/// Alignment of each shared buffer: the widest access of a thread of any
/// target.
static constexpr int64_t sharedAlignment = 64;

/// Refuses what the target cannot run.
static LogicalResult checkKernel(tile::KernelOp kernel, TargetInfo target) {
  WalkResult result = kernel.walk([&](Operation *op) {
    if (isa<tile::ReduceOp>(op)) {
      op->emitOpError("must be written out before the conversion to LLVM; run "
                      "tile-expand-reduce first");
      return WalkResult::interrupt();
    }
    if (target.isCPU() &&
        isa<tile::MmaOp, tile::LoadMatrixOp, tile::AsyncCopyOp,
            tile::AsyncCommitOp, tile::AsyncWaitOp>(op)) {
      op->emitOpError("is for GPUs only; schedule the kernel for the CPU with "
                      "vector ops instead");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  if (target.isCPU() && kernel.getThreads() != 1)
    return kernel.emitOpError("must have one thread a block on the CPU, but "
                              "has ")
           << kernel.getThreads();
  return success();
}

/// Gives each shared buffer its place and each meeting of threads its number.
static void numberSharedAndSites(tile::KernelOp kernel) {
  Builder builder(kernel.getContext());
  int64_t bytes = 0, sites = 0;
  kernel.walk([&](Operation *op) {
    if (auto shared = dyn_cast<tile::SharedOp>(op)) {
      auto type = cast<MemRefType>(shared.getBuffer().getType());
      bytes = llvm::alignTo(bytes, sharedAlignment);
      op->setAttr(offsetAttrName, builder.getI64IntegerAttr(bytes));
      bytes += type.getNumElements() *
               llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    } else if (isa<gpu::BarrierOp, gpu::ShuffleOp, tile::MmaOp,
                   tile::LoadMatrixOp>(op)) {
      op->setAttr(siteAttrName, builder.getI32IntegerAttr(sites++));
    }
  });
  kernel->setAttr(sharedBytesAttrName, builder.getI64IntegerAttr(bytes));
}

static LogicalResult convertControlFlow(tile::KernelOp kernel) {
  RewritePatternSet patterns(kernel.getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget legality(*kernel.getContext());
  legality.addIllegalDialect<scf::SCFDialect>();
  legality.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(kernel, legality, std::move(patterns));
}

static LogicalResult convertKernel(tile::KernelOp kernel, TargetInfo target) {
  if (failed(checkKernel(kernel, target)) ||
      failed(legalizeBody(kernel, target.target)) ||
      failed(convertControlFlow(kernel)))
    return failure();
  numberSharedAndSites(kernel);

  MLIRContext *context = kernel.getContext();
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(target.isNVVM() ? kernel.getIndexBits() : 64);
  options.useBarePtrCallConv = true;
  LLVMTypeConverter converter(context, options);
  addTypeConversions(converter, target);

  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  // Ahead of upstream's GPU patterns, which call libdevice even for a square
  // root.
  populateMathToLLVMConversionPatterns(converter, patterns,
                                       /*approximateLog1p=*/false,
                                       /*benefit=*/2);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  if (target.isNVVM())
    populateGpuToNVVMConversionPatterns(converter, patterns);
  populateThreadPatterns(converter, target, patterns);
  populateMatrixPatterns(converter, target, patterns);
  populateAsyncPatterns(converter, target, patterns);
  populateMemoryPatterns(converter, target, patterns);
  populateKernelPatterns(converter, target, patterns);

  LLVMConversionTarget legality(*context);
  legality.addLegalDialect<NVVM::NVVMDialect>();
  return applyFullConversion(kernel, legality, std::move(patterns));
}

/// Turns the declarations of library functions, which the steps before left,
/// into ones of the LLVM dialect. They are pure: errno is nobody's business.
static void convertDeclarations(ModuleOp module) {
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    OpBuilder builder(function);
    auto type = LLVM::LLVMFunctionType::get(function.getResultTypes().front(),
                                            function.getArgumentTypes());
    auto declaration = LLVM::LLVMFuncOp::create(builder, function.getLoc(),
                                                function.getName(), type);
    SmallVector<LLVM::ModRefInfo> none(6, LLVM::ModRefInfo::NoModRef);
    declaration.setMemoryEffectsAttr(
        LLVM::MemoryEffectsAttr::get(builder.getContext(), none));
    declaration.setNoUnwind(true);
    declaration.setWillReturn(true);
    function.erase();
  }
}

namespace {
struct ConvertTileToLLVM
    : fusion::impl::ConvertTileToLLVMBase<ConvertTileToLLVM> {
  using ConvertTileToLLVMBase::ConvertTileToLLVMBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    TargetInfo info{target};
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      function.erase();
    if (info.isEmulator())
      declareEmulatorRuntime(module);
    for (auto kernel :
         llvm::make_early_inc_range(module.getOps<tile::KernelOp>()))
      if (failed(convertKernel(kernel, info)))
        return signalPassFailure();
    convertDeclarations(module);
  }
};
} // namespace
