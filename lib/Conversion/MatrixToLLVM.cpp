//===- MatrixToLLVM.cpp - mma and load_matrix -----------------------------===//
//
// NVVM takes a fragment apart into the registers of its instruction; the
// emulator gets pointers to the fragments of all lanes, and computes in plain
// code. Only here is it known which PTX instruction an op is.
//
//===----------------------------------------------------------------------===//

#include "TileToLLVM.h"
#include "fusion/Dialect/Tile/Fragment.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::conversion;

//===----------------------------------------------------------------------===//
// NVVM
//===----------------------------------------------------------------------===//

/// The elements of a vector.
static SmallVector<Value> getElements(OpBuilder &b, Location loc,
                                      Value vector) {
  SmallVector<Value> elements;
  auto type = cast<VectorType>(vector.getType());
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    elements.push_back(LLVM::ExtractElementOp::create(
        b, loc, vector, createConstant(b, loc, b.getI64Type(), i)));
  return elements;
}

/// The 32-bit registers that a fragment of A or B fills; f64 has its own.
static SmallVector<Value> getRegisters(OpBuilder &b, Location loc,
                                       Value fragment) {
  auto type = cast<VectorType>(fragment.getType());
  Type element = type.getElementType();
  if (element.isF64())
    return getElements(b, loc, fragment);
  int64_t bits = type.getNumElements() * element.getIntOrFloatBitWidth();
  auto words = VectorType::get(bits / 32, b.getI32Type());
  SmallVector<Value> registers =
      getElements(b, loc, LLVM::BitcastOp::create(b, loc, words, fragment));
  if (element.isF16())
    for (Value &word : registers)
      word = LLVM::BitcastOp::create(b, loc, VectorType::get(2, element), word);
  return registers;
}

/// The vector of the members of a struct.
static Value packMembers(OpBuilder &b, Location loc, Value members,
                         VectorType type) {
  Value vector = LLVM::PoisonOp::create(b, loc, type);
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    vector = LLVM::InsertElementOp::create(
        b, loc, vector, LLVM::ExtractValueOp::create(b, loc, members, i),
        createConstant(b, loc, b.getI64Type(), i));
  return vector;
}

static NVVM::MMATypes getOperandType(tile::MmaKind kind) {
  switch (kind) {
  case tile::MmaKind::m16n8k16_f16:
    return NVVM::MMATypes::f16;
  case tile::MmaKind::m16n8k16_bf16:
    return NVVM::MMATypes::bf16;
  case tile::MmaKind::m16n8k8_tf32:
    return NVVM::MMATypes::tf32;
  case tile::MmaKind::m16n8k32_s8:
    return NVVM::MMATypes::s8;
  case tile::MmaKind::m16n8k32_u8:
    return NVVM::MMATypes::u8;
  case tile::MmaKind::m8n8k4_f64:
    return NVVM::MMATypes::f64;
  }
  llvm_unreachable("all kinds are covered");
}

namespace {
struct MmaToNVVM : ConvertOpToLLVMPattern<tile::MmaOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(tile::MmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<VectorType>(adaptor.getC().getType());
    SmallVector<Type> members(type.getNumElements(), type.getElementType());
    auto sum = LLVM::LLVMStructType::getLiteral(op.getContext(), members);
    tile::MmaShape shape = tile::getMmaShape(op.getKind());
    NVVM::MMATypes operand = getOperandType(op.getKind());
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (type.getElementType().isInteger())
      overflow = NVVM::MMAIntOverflow::wrapped;
    Value result = NVVM::MmaOp::create(
        rewriter, loc, sum, getRegisters(rewriter, loc, adaptor.getA()),
        getRegisters(rewriter, loc, adaptor.getB()),
        getElements(rewriter, loc, adaptor.getC()), {shape.m, shape.n, shape.k},
        /*b1Op=*/std::nullopt, overflow,
        std::array<NVVM::MMATypes, 2>{operand, operand},
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                       NVVM::MMALayout::col});
    rewriter.replaceOp(op, packMembers(rewriter, loc, result, type));
    return success();
  }
};

struct LoadMatrixToNVVM : ConvertOpToLLVMPattern<tile::LoadMatrixOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(tile::LoadMatrixOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto buffer = cast<MemRefType>(op.getBuffer().getType());
    Value row = createAddress(rewriter, loc, buffer, adaptor.getBuffer(),
                              adaptor.getIndices());
    Type result = getTypeConverter()->convertType(op.getResult().getType());
    auto count = static_cast<int32_t>(op.getNumMatrices());
    Type i32 = rewriter.getI32Type();
    Type loaded = i32;
    if (count > 1)
      loaded = LLVM::LLVMStructType::getLiteral(op.getContext(),
                                                SmallVector<Type>(count, i32));
    Value words = NVVM::LdMatrixOp::create(
        rewriter, loc, loaded, row, count,
        op.getTransposed() ? NVVM::MMALayout::col : NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(op.getContext(), 8, 8),
        NVVM::LdStMatrixEltType::B16);
    if (count > 1)
      words = packMembers(rewriter, loc, words, VectorType::get(count, i32));
    rewriter.replaceOpWithNewOp<LLVM::BitcastOp>(op, result, words);
    return success();
  }
};

struct RoundTF32ToNVVM : ConvertOpToLLVMPattern<tile::RoundTF32Op> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(tile::RoundTF32Op op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto round = [&](Value value) -> Value {
      Value bits = NVVM::ConvertFloatToTF32Op::create(
          rewriter, loc, rewriter.getI32Type(), value,
          NVVM::FPRoundingMode::RNA);
      return LLVM::BitcastOp::create(rewriter, loc, value.getType(), bits);
    };
    Value result = adaptor.getInput();
    if (!isa<VectorType>(result.getType())) {
      rewriter.replaceOp(op, round(result));
      return success();
    }
    for (auto [i, value] :
         llvm::enumerate(getElements(rewriter, loc, adaptor.getInput())))
      result = LLVM::InsertElementOp::create(
          rewriter, loc, result, round(value),
          createConstant(rewriter, loc, rewriter.getI64Type(), i));
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// The emulator
//===----------------------------------------------------------------------===//

/// Room for a value on the thread's stack, at the start of the function.
static Value createRoom(OpBuilder &builder, Operation *op, Type type) {
  OpBuilder::InsertionGuard guard(builder);
  auto function = op->getParentOfType<LLVM::LLVMFuncOp>();
  builder.setInsertionPointToStart(&function.getBody().front());
  Location loc = op->getLoc();
  return LLVM::AllocaOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), type,
      createConstant(builder, loc, builder.getI64Type(), 1), /*alignment=*/16);
}

/// The same with `value` in it.
static Value createRoomFor(OpBuilder &builder, Operation *op, Value value) {
  Value room = createRoom(builder, op, value.getType());
  LLVM::StoreOp::create(builder, op->getLoc(), value, room);
  return room;
}

static Value getSite(OpBuilder &builder, Operation *op) {
  return LLVM::ConstantOp::create(builder, op->getLoc(),
                                  op->getAttrOfType<IntegerAttr>(siteAttrName));
}

namespace {
struct MmaEmulated : ConvertOpToLLVMPattern<tile::MmaOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(tile::MmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value a = createRoomFor(rewriter, op, adaptor.getA());
    Value b = createRoomFor(rewriter, op, adaptor.getB());
    Value sum = createRoomFor(rewriter, op, adaptor.getC());
    Value kind = createConstant(rewriter, op.getLoc(), rewriter.getI32Type(),
                                static_cast<int32_t>(op.getKind()));
    callEmulator(rewriter, op, "fusion_emu_mma",
                 {a, b, sum, kind, getSite(rewriter, op)});
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, adaptor.getC().getType(),
                                              sum);
    return success();
  }
};

struct LoadMatrixEmulated : ConvertOpToLLVMPattern<tile::LoadMatrixOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(tile::LoadMatrixOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto buffer = cast<MemRefType>(op.getBuffer().getType());
    Value row = createAddress(rewriter, op.getLoc(), buffer,
                              adaptor.getBuffer(), adaptor.getIndices());
    Type type = getTypeConverter()->convertType(op.getResult().getType());
    Value result = createRoom(rewriter, op, type);
    Type i32 = rewriter.getI32Type();
    Value count =
        createConstant(rewriter, op.getLoc(), i32, op.getNumMatrices());
    Value transposed =
        createConstant(rewriter, op.getLoc(), i32, op.getTransposed());
    callEmulator(rewriter, op, "fusion_emu_load_matrix",
                 {row, result, count, transposed, getSite(rewriter, op)});
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, type, result);
    return success();
  }
};
} // namespace

void conversion::populateMatrixPatterns(const LLVMTypeConverter &converter,
                                        TargetInfo target,
                                        RewritePatternSet &patterns) {
  if (target.isNVVM())
    patterns.add<MmaToNVVM, LoadMatrixToNVVM, RoundTF32ToNVVM>(converter);
  else if (target.isEmulator())
    patterns.add<MmaEmulated, LoadMatrixEmulated>(converter);
}
