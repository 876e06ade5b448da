//===- KernelFrame.cpp - what the bodies of all kernels share -------------===//

#include "fusion/Schedule/KernelFrame.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace fusion {

KernelFrame::KernelFrame(const GroupModel &model, tile::KernelOp kernel,
                         OpBuilder &builder)
    : emitter(model, builder,
              kernel.getArguments().take_front(kernel.getNumBuffers()),
              kernel.getArguments().drop_front(kernel.getNumBuffers())),
      builder(builder), loc(kernel.getLoc()) {}

Value KernelFrame::blockId() {
  return gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
}
Value KernelFrame::threadId() {
  return gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
}
Value KernelFrame::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}
Value KernelFrame::add(Value a, Value b) {
  return arith::AddIOp::create(builder, loc, a, b);
}
Value KernelFrame::sub(Value a, Value b) {
  return arith::SubIOp::create(builder, loc, a, b);
}
Value KernelFrame::mul(Value a, Value b) {
  return arith::MulIOp::create(builder, loc, a, b);
}
Value KernelFrame::div(Value a, Value b) {
  return arith::DivUIOp::create(builder, loc, a, b);
}
Value KernelFrame::rem(Value a, Value b) {
  return arith::RemUIOp::create(builder, loc, a, b);
}
Value KernelFrame::min(Value a, Value b) {
  return arith::MinSIOp::create(builder, loc, a, b);
}
Value KernelFrame::less(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
}
Value KernelFrame::equal(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a, b);
}
Value KernelFrame::logicalAnd(Value a, Value b) {
  return arith::AndIOp::create(builder, loc, a, b);
}

SmallVector<Value> KernelFrame::loop(
    Value lower, Value upper, Value step, ValueRange values,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(builder, loc, lower, upper, step, values);
  OpBuilder::InsertionGuard insertion(builder);
  // Without carried values the loop comes with its terminator.
  if (values.empty())
    builder.setInsertionPoint(loop.getBody()->getTerminator());
  else
    builder.setInsertionPointToStart(loop.getBody());
  ElementEmitter::Scope scope(emitter);
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!values.empty())
    scf::YieldOp::create(builder, loc, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

void KernelFrame::loop(Value lower, Value upper, Value step,
                       llvm::function_ref<void(Value)> body) {
  loop(lower, upper, step, ValueRange(), [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

void KernelFrame::ifThen(Value condition, llvm::function_ref<void()> body) {
  auto ifOp = scf::IfOp::create(builder, loc, condition, /*withElse=*/false);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPoint(ifOp.thenBlock()->getTerminator());
  ElementEmitter::Scope scope(emitter);
  body();
}

void KernelFrame::storeOutputs(const Index &index) {
  const GroupModel &model = emitter.getModel();
  for (unsigned i = 0; i < model.getNumOutputs(); ++i)
    emitter.emit(model.getOutput(i), index);
  for (unsigned i = 0; i < model.getNumOutputs(); ++i)
    emitter.store(i, index, emitter.emit(model.getOutput(i), index));
}

Value KernelFrame::laneMask(Value count, int64_t lanes) {
  return vector::CreateMaskOp::create(
      builder, loc, VectorType::get({lanes}, builder.getI1Type()), count);
}

SmallVector<Value> KernelFrame::vectorLoop(
    Value lower, Value upper, int64_t step, int64_t lanes, bool divides,
    int64_t lowerDivisor, ValueRange values,
    llvm::function_ref<SmallVector<Value>(AffineExpr, ValueRange)> body) {
  int64_t divisor = std::gcd(lowerDivisor, std::gcd(step, lanes));
  auto part = [&](Value index, Value mask, ValueRange carried) {
    AffineExpr dim = emitter.addDim(index, divisor);
    emitter.setLanes(dim, lanes, mask);
    SmallVector<Value> next = body(dim, carried);
    emitter.setLanes(dim, 1);
    return next;
  };
  Value end = upper;
  if (!divides && lanes > 1) {
    Value width = constant(lanes);
    end = add(lower, mul(div(sub(upper, lower), width), width));
  }
  SmallVector<Value> results = loop(lower, end, constant(step), values,
                                    [&](Value index, ValueRange carried) {
                                      return part(index, nullptr, carried);
                                    });
  if (divides || lanes == 1)
    return results;
  Value tail = less(end, upper);
  Value mask = laneMask(sub(upper, end), lanes);
  auto ifOp = scf::IfOp::create(builder, loc, ValueRange(results).getTypes(),
                                tail, true, true);
  OpBuilder::InsertionGuard insertion(builder);
  {
    ElementEmitter::Scope scope(emitter);
    builder.setInsertionPointToStart(ifOp.thenBlock());
    SmallVector<Value> next = part(end, mask, results);
    scf::YieldOp::create(builder, loc, next);
  }
  builder.setInsertionPointToStart(ifOp.elseBlock());
  scf::YieldOp::create(builder, loc, results);
  return llvm::to_vector_of<Value>(ifOp.getResults());
}

SmallVector<AffineExpr> KernelFrame::addDims(ValueRange values) {
  return llvm::map_to_vector(
      values, [&](Value value) { return emitter.addDim(value); });
}

void setGrid(tile::KernelOp kernel, const GroupModel &model, AffineExpr grid,
             int64_t threads) {
  unsigned symbols = model.getSymbols().getHostExprs().size();
  kernel.setGrid(AffineMap::get(0, symbols, grid));
  kernel.setThreads(threads);
}

int64_t getLanes(const GroupModel &model, int64_t bytes) {
  int64_t widest = 1;
  auto see = [&](Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      int64_t bits = tensor.getElementTypeBitWidth();
      // f16 and bf16 are computed in f32, integers in their own width.
      if (isa<FloatType>(tensor.getElementType()))
        bits = std::max<int64_t>(bits, 32);
      widest = std::max<int64_t>(widest, llvm::divideCeil(bits, 8));
    }
  };
  for (Type type : model.getBody().getArgumentTypes())
    see(type);
  for (Operation &op : model.getBody())
    for (Type type : op.getResultTypes())
      see(type);
  return std::max<int64_t>(1, bytes / widest);
}

void transposeInRegisters(SmallVectorImpl<Value> &rows, OpBuilder &builder,
                          Location loc) {
  int64_t size = rows.size();
  for (int64_t block = size / 2; block >= 1; block /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < size; ++lane) {
      bool second = lane & block;
      low.push_back(second ? size + lane - block : lane);
      high.push_back(second ? size + lane : lane + block);
    }
    for (int64_t i = 0; i < size; ++i) {
      if (i & block)
        continue;
      Value a = rows[i], b = rows[i + block];
      rows[i] = vector::ShuffleOp::create(builder, loc, a, b, low);
      rows[i + block] = vector::ShuffleOp::create(builder, loc, a, b, high);
    }
  }
}

int64_t roundUpToPowerOf2(int64_t value) {
  return value <= 1 ? 1 : (int64_t)llvm::PowerOf2Ceil(value);
}

} // namespace fusion
