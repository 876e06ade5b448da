//===- CpuProductKernel.cpp - a product by packed panels ------------------===//
//
// The kernel for CPUs of a contraction that is a product of matrices. A block
// makes a tile of the result, over blocks of the sum: it packs what it needs of
// both operands into panels in its cache, through prologues, guards and any
// layout, and multiplies them with a kernel whose accumulators stay in
// registers, `unroll` rows by `width` vectors. Sums wait in scratch between
// blocks; the epilogue takes them from there.
//
// The panel of rows, [row][depth], or [depth][row] where the operand is
// contiguous along the rows, stays in the first cache; the panels of columns,
// [panel][depth][column], stream by from the second.
//
//===----------------------------------------------------------------------===//

#include "CpuProductKernel.h"
#include "ProductSpace.h"
#include "fusion/Schedule/Combiner.h"
#include "fusion/Schedule/KernelFrame.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace fusion {

namespace {

class CpuProductKernel {
public:
  CpuProductKernel(const GroupModel &model, const Config &config,
                   tile::KernelOp kernel, OpBuilder &builder)
      : model(model), config(config), kernel(kernel), builder(builder),
        loc(kernel.getLoc()), context(builder.getContext()),
        space(*ProductSpace::get(model)), combiner(space.hero),
        frame(model, kernel, builder), emitter(frame.emitter),
        element(combiner.getTypes(1).front()),
        vectorType(VectorType::get({config.lanes}, element)),
        panelColumns(config.lanes * config.width) {}

  void emit();

private:
  /// The depth that is being taken: [first, end) of the blocked dim.
  struct DepthBlock {
    Value first, end, size; // size: elements of the sum
  };
  /// A loop over neighbouring depth dims of an operand.
  struct DepthLoop {
    MergedDim dim;
    Value lower, upper, stride; // stride: elements of a panel a step
  };
  using AtDepth = llvm::function_ref<void(Value position)>;

  void packRows(const DepthBlock &block, Value first);
  void packRowsByDepth(const DepthBlock &block, Value first);
  void packRowsByRow(const DepthBlock &block, Value first);
  void packColumns(const DepthBlock &block);
  void packColumnRun(const DepthBlock &block, Value panel, Value first,
                     Value end, Value offset, const MergedDim &run);
  void packColumnsByDepth(const DepthBlock &block, Value panel, Value first);
  void multiply(Value rowPanel, Value columnPanel, Value depth, Value isFirst);
  void storeTile();

  SmallVector<DepthLoop> getDepthLoops(const ProductOperand &operand,
                                       const DepthBlock &block);
  /// Runs `body` at every depth; `byLane` walks the last loop in vectors.
  void walkDepth(ArrayRef<DepthLoop> loops, bool byLane, Value position,
                 AtDepth body);
  /// The element of an operand at `point` and the present depth, in the type
  /// that is summed.
  Value read(const ProductOperand &operand, ArrayRef<AffineExpr> point);
  /// The result's index in row `row` of the result and, in the columns, at the
  /// first.
  Index getRowPoint(Value row);
  Index getColumnPoint(Value column, const Domain &columns);

  Value makeBuffer(int64_t elements);
  void store(Value value, Value buffer, Value position);
  Value loadVector(Value buffer, Value position);
  Value plus(Value value, int64_t constant) {
    return constant ? frame.add(value, frame.constant(constant)) : value;
  }
  Value times(Value value, int64_t constant) {
    return frame.mul(value, frame.constant(constant));
  }

  const GroupModel &model;
  const Config &config;
  tile::KernelOp kernel;
  OpBuilder &builder;
  Location loc;
  MLIRContext *context;
  ProductSpace space;
  Combiner combiner;
  KernelFrame frame;
  ElementEmitter &emitter;
  Type element;
  VectorType vectorType;
  int64_t panelColumns;
  bool rowsByDepth = true;
  int64_t rowPitch = 0, columnPitch = 0, tilePitch = 0;

  SmallVector<AffineExpr> outer; // values of space.outer
  SmallVector<AffineExpr> depth; // of the depth dims, in walkDepth
  Value rowStart, rowEnd, columnStart, columnEnd; // of the block
  Value rowPanels, columnPanels;                  // how many the block has
  Value rowBuffer, columnBuffer, tileBuffer;
};

//===----------------------------------------------------------------------===//
// The block
//===----------------------------------------------------------------------===//

void CpuProductKernel::emit() {
  AffineExpr rows = product(space.getSizes(space.rows), context);
  AffineExpr columns = space.getSize(space.lane);
  int64_t blockRows = config.rows * config.unroll;
  int64_t blockColumns = config.columns * panelColumns;
  SmallVector<AffineExpr> grid = space.getSizes(space.outer);
  grid.push_back(rows.ceilDiv(blockRows));
  grid.push_back(columns.ceilDiv(blockColumns));
  setGrid(kernel, model, product(grid, context), config.threads);

  // Rows a page apart would share their lines' place in the cache.
  int64_t line = config.lanes;
  rowsByDepth = !(space.rows.size() == 1 &&
                  space.row.isContiguous(
                      space.result->getMerged()[space.rows[0]].dims.back()) &&
                  !space.row.isContiguous(space.depth.back()));
  rowPitch = config.depth + line;
  columnPitch = (config.depth + config.lanes) * panelColumns;
  tilePitch = blockColumns + line;
  rowBuffer = makeBuffer(config.unroll * rowPitch + config.lanes);
  columnBuffer = makeBuffer(config.columns * columnPitch);
  tileBuffer = makeBuffer(blockRows * tilePitch);

  SmallVector<Value> position = delinearize(emitter, frame.blockId(), grid);
  columnStart = times(position.pop_back_val(), blockColumns);
  rowStart = times(position.pop_back_val(), blockRows);
  outer = frame.addDims(position);
  rowEnd = frame.min(plus(rowStart, blockRows), emitter.emitIndex(rows));
  columnEnd =
      frame.min(plus(columnStart, blockColumns), emitter.emitIndex(columns));
  auto count = [&](Value start, Value end, int64_t size) -> Value {
    return arith::CeilDivUIOp::create(builder, loc, frame.sub(end, start),
                                      frame.constant(size));
  };
  rowPanels = count(rowStart, rowEnd, config.unroll);
  columnPanels = count(columnStart, columnEnd, panelColumns);

  // Blocks of the sum, equally deep; an empty sum has one too, of depth 0.
  Value one = frame.constant(1), zero = frame.constant(0);
  Value extent = emitter.emitIndex(space.getBlockedSize());
  Value whole = emitter.emitIndex(space.getWholeDepth());
  Value most = frame.div(frame.constant(config.depth), whole);
  Value blocks = arith::MaxSIOp::create(
      builder, loc, one,
      arith::CeilDivUIOp::create(builder, loc, extent, most));
  Value size = arith::CeilDivUIOp::create(builder, loc, extent, blocks);
  frame.loop(zero, blocks, one, [&](Value number) {
    DepthBlock block;
    block.first = frame.mul(number, size);
    block.end = frame.min(frame.add(block.first, size), extent);
    block.size = frame.mul(frame.sub(block.end, block.first), whole);
    packColumns(block);
    Value isFirst = frame.equal(number, zero);
    frame.loop(zero, rowPanels, one, [&](Value rowPanel) {
      packRows(block, times(rowPanel, config.unroll));
      frame.loop(zero, columnPanels, one, [&](Value columnPanel) {
        multiply(rowPanel, columnPanel, block.size, isFirst);
      });
    });
  });
  storeTile();
}

/// Adds the product of two panels to their part of the tile.
void CpuProductKernel::multiply(Value rowPanel, Value columnPanel, Value depth,
                                Value isFirst) {
  int64_t rows = config.unroll, vectors = config.width;
  Value origin = frame.add(times(rowPanel, rows * tilePitch),
                           times(columnPanel, panelColumns));
  auto place = [&](int64_t row, int64_t vector) {
    return plus(origin, row * tilePitch + vector * config.lanes);
  };
  SmallVector<Type> types(rows * vectors, vectorType);
  auto start = scf::IfOp::create(builder, loc, types, isFirst, true, true);
  {
    OpBuilder::InsertionGuard insertion(builder);
    builder.setInsertionPointToStart(start.thenBlock());
    Value zero = combiner.getIdentity(builder, loc, config.lanes).front();
    scf::YieldOp::create(builder, loc,
                         SmallVector<Value>(rows * vectors, zero));
    builder.setInsertionPointToStart(start.elseBlock());
    SmallVector<Value> sums;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t vector = 0; vector < vectors; ++vector)
        sums.push_back(loadVector(tileBuffer, place(row, vector)));
    scf::YieldOp::create(builder, loc, sums);
  }
  Value columnOrigin = times(columnPanel, columnPitch);
  SmallVector<Value> sums = frame.loop(
      frame.constant(0), depth, frame.constant(1), start.getResults(),
      [&](Value at, ValueRange carried) {
        Value columnAt = frame.add(columnOrigin, times(at, panelColumns));
        Value rowAt = rowsByDepth ? at : times(at, config.unroll);
        SmallVector<Value> columns, next;
        for (int64_t vector = 0; vector < vectors; ++vector)
          columns.push_back(
              loadVector(columnBuffer, plus(columnAt, vector * config.lanes)));
        for (int64_t row = 0; row < rows; ++row) {
          Value scalar = memref::LoadOp::create(
              builder, loc, rowBuffer,
              plus(rowAt, row * (rowsByDepth ? rowPitch : 1)));
          Value factor =
              vector::BroadcastOp::create(builder, loc, vectorType, scalar);
          for (int64_t vector = 0; vector < vectors; ++vector)
            llvm::append_range(
                next, combiner.multiplyAdd(builder, loc,
                                           carried.slice(next.size(), 1),
                                           factor, columns[vector]));
        }
        return next;
      });
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t vector = 0; vector < vectors; ++vector)
      store(sums[row * vectors + vector], tileBuffer, place(row, vector));
}

/// Gives the sums to the epilogue, row by row.
void CpuProductKernel::storeTile() {
  AffineExpr columns = space.getSize(space.lane);
  bool divides = isKnownMultiple(columns, config.lanes, emitter.getDivisors());
  frame.loop(rowStart, rowEnd, frame.constant(1), [&](Value row) {
    Index rowPoint = getRowPoint(row);
    Value origin = times(frame.sub(row, rowStart), tilePitch);
    frame.vectorLoop(
        columnStart, columnEnd, config.lanes, config.lanes, divides,
        config.lanes, ValueRange(), [&](AffineExpr column, ValueRange) {
          Index point = rowPoint;
          point[space.result->getMerged()[space.lane].dims.back()] = column;
          Value at = frame.add(
              origin, frame.sub(emitter.emitIndex(column), columnStart));
          Value sum = loadVector(tileBuffer, at);
          emitter.seed(
              space.hero->getResult(0), point,
              emitter.finishHero(space.hero, space.spec, point, sum).front());
          frame.storeOutputs(point);
          return SmallVector<Value>();
        });
  });
}

//===----------------------------------------------------------------------===//
// Points and depths
//===----------------------------------------------------------------------===//

Index CpuProductKernel::getRowPoint(Value row) {
  SmallVector<AffineExpr> values(space.result->getMerged().size(),
                                 getAffineConstantExpr(0, context));
  for (auto [dim, value] : llvm::zip_equal(space.outer, outer))
    values[dim] = value;
  if (row)
    for (auto [dim, value] : llvm::zip_equal(
             space.rows, delinearize(emitter, row, space.getSizes(space.rows))))
      values[dim] = emitter.addDim(value);
  return space.result->getIndex(values, context);
}

Index CpuProductKernel::getColumnPoint(Value column, const Domain &columns) {
  Index point = getRowPoint(nullptr);
  SmallVector<AffineExpr> sizes;
  for (const MergedDim &dim : columns.getMerged())
    sizes.push_back(dim.size);
  for (auto [dim, value] : llvm::zip_equal(columns.getMerged(),
                                           delinearize(emitter, column, sizes)))
    point[dim.dims.back()] = emitter.addDim(value);
  return point;
}

SmallVector<CpuProductKernel::DepthLoop>
CpuProductKernel::getDepthLoops(const ProductOperand &operand,
                                const DepthBlock &block) {
  SmallVector<DepthLoop> loops;
  Domain domain = space.merge(operand, space.depth);
  Value stride = frame.constant(1);
  for (const MergedDim &dim : llvm::reverse(domain.getMerged())) {
    DepthLoop loop;
    loop.dim = dim;
    loop.stride = stride;
    if (dim.dims.front() == space.getBlockedDim()) {
      SmallVector<AffineExpr> inner;
      for (unsigned merged : ArrayRef(dim.dims).drop_front())
        inner.push_back(space.spec.reduced[merged - space.spec.resultRank]);
      Value each = emitter.emitIndex(product(inner, context));
      loop.lower = frame.mul(block.first, each);
      loop.upper = frame.mul(block.end, each);
    } else {
      loop.lower = frame.constant(0);
      loop.upper = emitter.emitIndex(dim.size);
    }
    stride = frame.mul(stride, frame.sub(loop.upper, loop.lower));
    loops.push_back(std::move(loop));
  }
  std::reverse(loops.begin(), loops.end());
  depth.assign(space.spec.reduced.size(), getAffineConstantExpr(0, context));
  return loops;
}

void CpuProductKernel::walkDepth(ArrayRef<DepthLoop> loops, bool byLane,
                                 Value position, AtDepth body) {
  if (loops.empty())
    return body(position);
  const DepthLoop &loop = loops.front();
  AffineExpr &value = depth[loop.dim.dims.back() - space.spec.resultRank];
  auto advance = [&](Value at) {
    return frame.add(position,
                     frame.mul(frame.sub(at, loop.lower), loop.stride));
  };
  if (byLane && loops.size() == 1) {
    frame.vectorLoop(loop.lower, loop.upper, config.lanes, config.lanes,
                     /*divides=*/false, /*lowerDivisor=*/1, ValueRange(),
                     [&](AffineExpr at, ValueRange) {
                       value = at;
                       body(advance(emitter.emitIndex(at)));
                       return SmallVector<Value>();
                     });
    return;
  }
  frame.loop(loop.lower, loop.upper, frame.constant(1), [&](Value at) {
    value = emitter.addDim(at);
    walkDepth(loops.drop_front(), byLane, advance(at), body);
  });
}

Value CpuProductKernel::read(const ProductOperand &operand,
                             ArrayRef<AffineExpr> point) {
  SmallVector<AffineExpr> dims(point);
  llvm::append_range(dims, depth);
  Value value = emitter.splat(emitter.emitOrZero(
      operand.read.operand, substituteDims(operand.read.index, dims),
      substituteDims(operand.read.guard, dims)));
  return combiner.convertToAccumulator(builder, loc, value);
}

//===----------------------------------------------------------------------===//
// Panels of rows
//===----------------------------------------------------------------------===//

/// Packs the panel whose first row is `first` of the block.
void CpuProductKernel::packRows(const DepthBlock &block, Value first) {
  first = frame.add(rowStart, first);
  rowsByDepth ? packRowsByDepth(block, first) : packRowsByRow(block, first);
}

/// Row by row; rows beyond the last repeat it.
void CpuProductKernel::packRowsByDepth(const DepthBlock &block, Value first) {
  Value last = frame.sub(rowEnd, frame.constant(1));
  bool byLane = space.row.isContiguous(space.depth.back());
  frame.loop(frame.constant(0), frame.constant(config.unroll),
             frame.constant(1), [&](Value local) {
               Index point =
                   getRowPoint(frame.min(frame.add(first, local), last));
               walkDepth(getDepthLoops(space.row, block), byLane,
                         times(local, rowPitch), [&](Value position) {
                           store(read(space.row, point), rowBuffer, position);
                         });
             });
}

/// The rows side by side, in vectors.
void CpuProductKernel::packRowsByRow(const DepthBlock &block, Value first) {
  unsigned rowDim = space.result->getMerged()[space.rows[0]].dims.back();
  for (int64_t at = 0; at < config.unroll; at += config.lanes) {
    Value from = plus(first, at);
    Value left =
        frame.min(frame.sub(rowEnd, from), frame.constant(config.unroll - at));
    AffineExpr row = emitter.addDim(from);
    emitter.setLanes(row, config.lanes, frame.laneMask(left, config.lanes));
    Index point = getRowPoint(nullptr);
    point[rowDim] = row;
    walkDepth(getDepthLoops(space.row, block), /*byLane=*/false,
              frame.constant(0), [&](Value position) {
                store(read(space.row, point), rowBuffer,
                      plus(times(position, config.unroll), at));
              });
    emitter.setLanes(row, 1);
  }
}

//===----------------------------------------------------------------------===//
// Panels of columns
//===----------------------------------------------------------------------===//

void CpuProductKernel::packColumns(const DepthBlock &block) {
  ArrayRef<unsigned> dims = space.result->getMerged()[space.lane].dims;
  Domain columns = space.merge(space.column, dims);
  MergedDim run = columns.getMerged().back();
  bool turned = !space.column.isContiguous(run.dims.back()) &&
                space.column.isContiguous(space.depth.back());
  Value zero = frame.constant(0), one = frame.constant(1);
  frame.loop(zero, columnPanels, one, [&](Value panel) {
    Value origin = times(panel, columnPitch);
    Value first = frame.add(columnStart, times(panel, panelColumns));
    if (turned)
      return packColumnsByDepth(block, origin, first);
    Value end = frame.min(plus(first, panelColumns), columnEnd);
    if (columns.getMerged().size() == 1)
      return packColumnRun(block, origin, first, end, zero, run);
    // Runs that are contiguous to this operand, one after the other.
    Value length = emitter.emitIndex(run.size);
    Value runs = arith::CeilDivUIOp::create(builder, loc, end, length);
    frame.loop(frame.div(first, length), runs, one, [&](Value number) {
      Value start = frame.mul(number, length);
      Value from = arith::MaxSIOp::create(builder, loc, first, start);
      Value to = frame.min(end, frame.add(start, length));
      packColumnRun(block, frame.add(origin, frame.sub(from, first)), from, to,
                    start, run);
    });
  });
}

/// Packs columns [first, end) of a run that starts at column `start`.
void CpuProductKernel::packColumnRun(const DepthBlock &block, Value panel,
                                     Value first, Value end, Value start,
                                     const MergedDim &run) {
  ArrayRef<unsigned> dims = space.result->getMerged()[space.lane].dims;
  Domain columns = space.merge(space.column, dims);
  int64_t lanes = config.lanes;
  frame.loop(first, end, frame.constant(lanes), [&](Value at) {
    Index point = getColumnPoint(start, columns);
    AffineExpr column = emitter.addDim(frame.sub(at, start));
    point[run.dims.back()] = column;
    Value origin = frame.add(panel, frame.sub(at, first));
    Value left = frame.sub(end, at);
    auto pack = [&](Value mask) {
      emitter.setLanes(column, lanes, mask);
      walkDepth(getDepthLoops(space.column, block), /*byLane=*/false,
                frame.constant(0), [&](Value position) {
                  store(read(space.column, point), columnBuffer,
                        frame.add(origin, times(position, panelColumns)));
                });
      emitter.setLanes(column, 1);
    };
    Value partial = frame.less(left, frame.constant(lanes));
    frame.ifThen(partial, [&] { pack(frame.laneMask(left, lanes)); });
    Value whole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                        left, frame.constant(lanes));
    frame.ifThen(whole, [&] { pack(nullptr); });
  });
}

/// Reads vectors along the depth and turns squares of them in registers.
/// Columns beyond the last repeat it; what is written beyond the depth is
/// overwritten, or lies in the rows that a panel has to spare.
void CpuProductKernel::packColumnsByDepth(const DepthBlock &block, Value panel,
                                          Value first) {
  ArrayRef<unsigned> dims = space.result->getMerged()[space.lane].dims;
  Domain columns = space.merge(space.column, dims);
  Value last = frame.sub(columnEnd, frame.constant(1));
  for (int64_t vector = 0; vector < config.width; ++vector) {
    SmallVector<Index> points;
    for (int64_t lane = 0; lane < config.lanes; ++lane)
      points.push_back(getColumnPoint(
          frame.min(plus(first, vector * config.lanes + lane), last), columns));
    walkDepth(getDepthLoops(space.column, block), /*byLane=*/true,
              frame.constant(0), [&](Value position) {
                SmallVector<Value> square;
                for (const Index &point : points)
                  square.push_back(read(space.column, point));
                transposeInRegisters(square, builder, loc);
                Value at = frame.add(plus(panel, vector * config.lanes),
                                     times(position, panelColumns));
                for (auto [i, value] : llvm::enumerate(square))
                  vector::StoreOp::create(builder, loc, value, columnBuffer,
                                          plus(at, i * panelColumns));
              });
  }
}

//===----------------------------------------------------------------------===//
// Scratch
//===----------------------------------------------------------------------===//

Value CpuProductKernel::makeBuffer(int64_t elements) {
  auto workgroup =
      gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup);
  return tile::SharedOp::create(builder, loc,
                                MemRefType::get({elements}, element,
                                                MemRefLayoutAttrInterface(),
                                                workgroup));
}

/// Stores a scalar, or the lanes of a vector that exist.
void CpuProductKernel::store(Value value, Value buffer, Value position) {
  if (!isa<VectorType>(value.getType()))
    memref::StoreOp::create(builder, loc, value, buffer, position);
  else if (Value mask = emitter.getMask())
    vector::MaskedStoreOp::create(builder, loc, buffer, position, mask, value);
  else
    vector::StoreOp::create(builder, loc, value, buffer, position);
}

Value CpuProductKernel::loadVector(Value buffer, Value position) {
  return vector::LoadOp::create(builder, loc, vectorType, buffer, position);
}

} // namespace

void emitCpuProductKernel(const GroupModel &model, const Config &config,
                          tile::KernelOp kernel, OpBuilder &builder) {
  CpuProductKernel(model, config, kernel, builder).emit();
}

} // namespace fusion
