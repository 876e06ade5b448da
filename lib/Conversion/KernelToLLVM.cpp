//===- KernelToLLVM.cpp - the function of a kernel ------------------------===//
//
// On a GPU a kernel is a function of its buffers and sizes. Elsewhere those
// come in arrays: an inner function takes them one by one, so that it can say
// that buffers do not alias, and is inlined into the outer one, which unpacks
// the arrays and, on the CPU, runs through the blocks.
//
//===----------------------------------------------------------------------===//

#include "TileToLLVM.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::conversion;

/// What the launch guarantees for a buffer: it shares no byte with one that the
/// kernel writes, and its alignment.
static DictionaryAttr getBufferAttrs(tile::KernelOp kernel, unsigned buffer) {
  Builder builder(kernel.getContext());
  NamedAttrList attrs;
  attrs.set(LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
  auto access =
      kernel.getArgAttrOfType<StringAttr>(buffer, tile::accessAttrName);
  if (access && access.getValue() == "read")
    attrs.set(LLVM::LLVMDialect::getReadonlyAttrName(), builder.getUnitAttr());
  if (auto align =
          kernel.getArgAttrOfType<IntegerAttr>(buffer, tile::alignAttrName))
    attrs.set(LLVM::LLVMDialect::getAlignAttrName(), align);
  return attrs.getDictionary(kernel.getContext());
}

/// Loads entry `index` of an array of `type`.
static Value loadEntry(OpBuilder &builder, Location loc, Value array,
                       int64_t index, Type type) {
  Value address =
      LLVM::GEPOp::create(builder, loc, array.getType(), type, array,
                          LLVM::GEPArg(static_cast<int32_t>(index)),
                          LLVM::GEPNoWrapFlags::inbounds);
  return LLVM::LoadOp::create(builder, loc, type, address);
}

/// Calls `inner` for each block from argument 2 of `outer` to argument 3, with
/// the scratch of argument 4.
static void createBlockLoop(OpBuilder &builder, LLVM::LLVMFuncOp outer,
                            LLVM::LLVMFuncOp inner,
                            SmallVector<Value> arguments) {
  Location loc = outer.getLoc();
  Type i64 = builder.getI64Type();
  Block *entry = builder.getInsertionBlock();
  Value end = entry->getArgument(3);
  Block *header = builder.createBlock(&outer.getBody(), {}, i64, loc);
  Block *body = builder.createBlock(&outer.getBody());
  Block *exit = builder.createBlock(&outer.getBody());

  builder.setInsertionPointToEnd(entry);
  LLVM::BrOp::create(builder, loc, entry->getArgument(2), header);
  builder.setInsertionPointToEnd(header);
  Value block = header->getArgument(0);
  Value isInside =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt, block, end);
  LLVM::CondBrOp::create(builder, loc, isInside, body, exit);

  builder.setInsertionPointToEnd(body);
  arguments.append({entry->getArgument(4), block});
  LLVM::CallOp::create(builder, loc, inner, arguments);
  Value next = LLVM::AddOp::create(builder, loc, block,
                                   createConstant(builder, loc, i64, 1),
                                   LLVM::IntegerOverflowFlags::nsw);
  LLVM::BrOp::create(builder, loc, next, header);
  builder.setInsertionPointToEnd(exit);
}

/// Creates the function that the launch calls, around `inner`.
static void createOuterFunction(OpBuilder &builder, LLVM::LLVMFuncOp inner,
                                StringRef name, unsigned numBuffers,
                                unsigned numSizes, TargetInfo target) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(inner);
  Location loc = inner.getLoc();
  Type ptr = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  SmallVector<Type> types = {ptr, ptr};
  if (target.isCPU())
    types.append({i64, i64, ptr});
  else
    types.push_back(ptr);
  auto outer = LLVM::LLVMFuncOp::create(
      builder, loc, name,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                  types));
  outer.setNoUnwind(true);

  Block *entry = outer.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  SmallVector<Value> arguments;
  for (unsigned i = 0; i < numBuffers; ++i)
    arguments.push_back(loadEntry(builder, loc, entry->getArgument(0), i, ptr));
  for (unsigned i = 0; i < numSizes; ++i)
    arguments.push_back(loadEntry(builder, loc, entry->getArgument(1), i, i64));
  if (target.isCPU()) {
    createBlockLoop(builder, outer, inner, std::move(arguments));
  } else {
    arguments.push_back(entry->getArgument(2));
    LLVM::CallOp::create(builder, loc, inner, arguments);
  }
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

namespace {
struct Kernel : ConvertOpToLLVMPattern<tile::KernelOp> {
  Kernel(const LLVMTypeConverter &converter, TargetInfo target)
      : ConvertOpToLLVMPattern(converter), target(target) {}

  LogicalResult
  matchAndRewrite(tile::KernelOp kernel, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MLIRContext *context = kernel.getContext();
    unsigned numArguments = kernel.getNumArguments();
    TypeConverter::SignatureConversion signature(numArguments);
    for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes()))
      signature.addInputs(index, getTypeConverter()->convertType(type));
    if (target.isCPU())
      signature.addInputs(
          {LLVM::LLVMPointerType::get(context), rewriter.getI64Type()});
    else if (target.isEmulator())
      signature.addInputs(LLVM::LLVMPointerType::get(context));

    std::string name = kernel.getSymName().str();
    std::string innerName = name + (target.isCPU()    ? ".block"
                                    : target.isNVVM() ? ""
                                                      : ".thread");
    auto function = LLVM::LLVMFuncOp::create(
        rewriter, kernel.getLoc(), innerName,
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                    signature.getConvertedTypes()));
    function.setNoUnwind(true);
    function->setAttr(sharedBytesAttrName,
                      kernel->getAttr(sharedBytesAttrName));
    unsigned numBuffers = kernel.getNumBuffers();
    for (unsigned buffer = 0; buffer < numBuffers; ++buffer)
      function.setArgAttrs(buffer, getBufferAttrs(kernel, buffer));

    if (target.isNVVM()) {
      function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                        rewriter.getUnitAttr());
      auto threads = static_cast<int32_t>(kernel.getThreads());
      function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                        rewriter.getDenseI32ArrayAttr({threads, 1, 1}));
    } else {
      function.setLinkage(LLVM::Linkage::Internal);
      function.setAlwaysInline(true);
      createOuterFunction(rewriter, function, name, numBuffers,
                          numArguments - numBuffers, target);
    }

    rewriter.inlineRegionBefore(kernel.getBody(), function.getBody(),
                                function.end());
    if (failed(rewriter.convertRegionTypes(&function.getBody(),
                                           *getTypeConverter(), &signature)))
      return rewriter.notifyMatchFailure(kernel, "a block's types do not "
                                                 "convert");
    rewriter.eraseOp(kernel);
    return success();
  }

  TargetInfo target;
};

struct Return : ConvertOpToLLVMPattern<tile::ReturnOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(tile::ReturnOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::ReturnOp>(op, ValueRange());
    return success();
  }
};
} // namespace

void conversion::populateKernelPatterns(const LLVMTypeConverter &converter,
                                        TargetInfo target,
                                        RewritePatternSet &patterns) {
  patterns.add<Kernel>(converter, target);
  patterns.add<Return>(converter);
}
