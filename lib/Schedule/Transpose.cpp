//===- Transpose.cpp - elementwise chains that turn memory round ----------===//
//
// For chains in which an input is contiguous along another dim than the output:
// read plainly, each of its elements would cost a whole line of memory. The
// space is cut into square tiles of these two dims. On a GPU a tile of such an
// input is read along its own contiguous dim into shared memory and picked up
// along the output's; rows of the buffer are padded by one element, so that a
// column of it lies in different banks. On a CPU a square of vectors is
// transposed in registers. Either way the emitter is told the elements that it
// would have loaded, and the rest is an elementwise kernel.
//
//===----------------------------------------------------------------------===//

#include "fusion/Schedule/KernelFrame.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace fusion {

namespace {

constexpr int64_t kGpuTile = 64;
constexpr int64_t kGpuThreads = 256;

/// An input read at one index that is contiguous along the tile's rows.
struct TurnedRead {
  BlockArgument leaf;
  Index index; // over the dims of the space
};

struct TransposeSpace {
  Domain domain;
  unsigned row = 0; // merged dims
  unsigned column = 0;
  SmallVector<TurnedRead> reads;

  static std::optional<TransposeSpace> get(const GroupModel &model);
};

std::optional<TransposeSpace> TransposeSpace::get(const GroupModel &model) {
  GroupView view = model.getView();
  GroupShape shape = classify(view);
  if (shape.kind != GroupKind::Elementwise)
    return std::nullopt;
  MLIRContext *context = model.getOutput(0).getContext();
  Domain domain(shape.space, getPhysicalOrder(model.getOutputType(0)), {},
                collectAccessExprs(model));
  ArrayRef<MergedDim> merged = domain.getMerged();
  if (merged.size() < 2)
    return std::nullopt;
  TransposeSpace space{domain, 0, (unsigned)merged.size() - 1, {}};
  AccessWalk walk = walkPoint(view, shape);
  AffineExpr one = getAffineConstantExpr(1, context);
  // Reads under a guard stay with the emitter, which knows how to skip them.
  if (!walk.getOtherExprs().empty() ||
      llvm::any_of(view.ops, [](Operation *op) { return isa<GatherOp>(op); }))
    return std::nullopt;
  std::optional<unsigned> row;
  for (auto &[leaf, indices] : walk.getLeaves())
    for (const Index &index : indices) {
      AffineExpr offset = linearize(index, model.getStrides(leaf), context);
      AffineExpr along = getCoefficient(offset, merged.back().dims.back());
      if (!along || isa<AffineConstantExpr>(along))
        continue; // contiguous as it is, or the same for a whole row
      for (unsigned i = 0; i + 1 < merged.size(); ++i)
        if (getCoefficient(offset, merged[i].dims.back()) == one) {
          if (row && *row != i)
            return std::nullopt;
          row = i;
          space.reads.push_back({cast<BlockArgument>(leaf), index});
        }
    }
  if (!row)
    return std::nullopt;
  space.row = *row;
  return space;
}

class TransposeKernel {
public:
  TransposeKernel(const GroupModel &model, const MachineModel &machine,
                  const Config &config, tile::KernelOp kernel,
                  OpBuilder &builder)
      : model(model), config(config), kernel(kernel),
        context(builder.getContext()), space(*TransposeSpace::get(model)),
        frame(model, kernel, builder), emitter(frame.emitter), builder(builder),
        loc(kernel.getLoc()) {}

  void emit(bool isGPU);

private:
  void emitGpuTile(Value rowStart, Value columnStart);
  void emitCpuTile(Value rowStart, Value columnStart);
  /// The index in the space with these row and column dims.
  Index getIndex(AffineExpr row, AffineExpr column) const;
  /// The index of `read` at a point of the space.
  Index bind(const TurnedRead &read, ArrayRef<AffineExpr> point) const {
    return substituteDims(read.index, point);
  }
  AffineExpr getSize(unsigned dim) const {
    return space.domain.getMerged()[dim].size;
  }

  const GroupModel &model;
  const Config &config;
  tile::KernelOp kernel;
  MLIRContext *context;
  TransposeSpace space;
  KernelFrame frame;
  ElementEmitter &emitter;
  OpBuilder &builder;
  Location loc;
  SmallVector<AffineExpr> others; // one a merged dim but row and column
};

Index TransposeKernel::getIndex(AffineExpr row, AffineExpr column) const {
  SmallVector<AffineExpr> values;
  unsigned next = 0;
  for (unsigned i = 0; i < space.domain.getMerged().size(); ++i)
    values.push_back(i == space.row      ? row
                     : i == space.column ? column
                                         : others[next++]);
  return space.domain.getIndex(values, context);
}

void TransposeKernel::emit(bool isGPU) {
  SmallVector<AffineExpr> sizes;
  for (auto [i, dim] : llvm::enumerate(space.domain.getMerged()))
    if (i != space.row && i != space.column)
      sizes.push_back(dim.size);
  unsigned numOthers = sizes.size();
  sizes.push_back(getSize(space.row).ceilDiv(config.rows));
  sizes.push_back(getSize(space.column).ceilDiv(config.columns));
  setGrid(kernel, model, product(sizes, context), config.threads);
  SmallVector<Value> position = delinearize(emitter, frame.blockId(), sizes);
  others = frame.addDims(ArrayRef(position).take_front(numOthers));
  Value row = frame.mul(position[numOthers], frame.constant(config.rows));
  Value column =
      frame.mul(position[numOthers + 1], frame.constant(config.columns));
  isGPU ? emitGpuTile(row, column) : emitCpuTile(row, column);
}

/// Threads stand along the contiguous dim, `lanes` elements each.
void TransposeKernel::emitGpuTile(Value rowStart, Value columnStart) {
  int64_t lanes = config.lanes, across = config.columns / lanes;
  int64_t step = config.threads / across;
  Value thread = frame.threadId();
  Value along = frame.mul(frame.rem(thread, frame.constant(across)),
                          frame.constant(lanes));
  Value down = frame.div(thread, frame.constant(across));
  Value rows = emitter.emitIndex(getSize(space.row));
  Value columns = emitter.emitIndex(getSize(space.column));

  SmallVector<Value> buffers;
  for (const TurnedRead &read : space.reads) {
    Type element = tile::getBufferElementType(
        cast<RankedTensorType>(read.leaf.getType()).getElementType());
    auto space =
        gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup);
    buffers.push_back(tile::SharedOp::create(
        builder, loc,
        MemRefType::get({config.columns, config.rows + 1}, element,
                        MemRefLayoutAttrInterface(), space)));
  }
  // In: `along` runs over the tile's rows, `down` over its columns.
  for (int64_t pass = 0; pass < config.columns; pass += step) {
    Value localColumn = frame.add(down, frame.constant(pass));
    Value column = frame.add(columnStart, localColumn);
    Value row = frame.add(rowStart, along);
    Value inside =
        frame.logicalAnd(frame.less(row, rows), frame.less(column, columns));
    frame.ifThen(inside, [&] {
      AffineExpr rowDim = emitter.addDim(row, lanes);
      AffineExpr columnDim = emitter.addDim(column);
      emitter.setLanes(rowDim, lanes);
      Index point = getIndex(rowDim, columnDim);
      for (auto [read, buffer] : llvm::zip_equal(space.reads, buffers)) {
        Value element = emitter.loadStored(read.leaf, bind(read, point));
        for (int64_t lane = 0; lane < lanes; ++lane) {
          Value scalar = element;
          if (lanes > 1)
            scalar = vector::ExtractOp::create(builder, loc, element, lane);
          memref::StoreOp::create(
              builder, loc, scalar, buffer,
              ValueRange{localColumn, frame.add(along, frame.constant(lane))});
        }
      }
      emitter.setLanes(rowDim, 1);
    });
  }
  gpu::BarrierOp::create(builder, loc);
  // Out: `along` runs over the columns, `down` over the rows.
  for (int64_t pass = 0; pass < config.rows; pass += step) {
    Value localRow = frame.add(down, frame.constant(pass));
    Value row = frame.add(rowStart, localRow);
    Value column = frame.add(columnStart, along);
    Value inside =
        frame.logicalAnd(frame.less(row, rows), frame.less(column, columns));
    frame.ifThen(inside, [&] {
      AffineExpr rowDim = emitter.addDim(row);
      AffineExpr columnDim = emitter.addDim(column, lanes);
      emitter.setLanes(columnDim, lanes);
      Index point = getIndex(rowDim, columnDim);
      for (auto [read, buffer] : llvm::zip_equal(space.reads, buffers)) {
        SmallVector<Value> scalars;
        for (int64_t lane = 0; lane < lanes; ++lane)
          scalars.push_back(memref::LoadOp::create(
              builder, loc, buffer,
              ValueRange{frame.add(along, frame.constant(lane)), localRow}));
        Value element = scalars.front();
        if (lanes > 1)
          element = vector::FromElementsOp::create(
              builder, loc, VectorType::get({lanes}, element.getType()),
              scalars);
        emitter.seed(read.leaf, bind(read, point),
                     emitter.fromStored(read.leaf, element));
      }
      frame.storeOutputs(point);
      emitter.setLanes(columnDim, 1);
    });
  }
}

/// Whole squares are transposed in registers; the rest is done element by
/// element.
void TransposeKernel::emitCpuTile(Value rowStart, Value columnStart) {
  int64_t lanes = config.lanes;
  Value width = frame.constant(lanes);
  Value rows = emitter.emitIndex(getSize(space.row));
  Value columns = emitter.emitIndex(getSize(space.column));
  Value rowEnd =
      frame.min(frame.add(rowStart, frame.constant(config.rows)), rows);
  Value columnEnd = frame.min(
      frame.add(columnStart, frame.constant(config.columns)), columns);
  auto wholePart = [&](Value start, Value end) {
    return frame.add(start,
                     frame.mul(frame.div(frame.sub(end, start), width), width));
  };
  Value wholeRows = wholePart(rowStart, rowEnd);
  Value wholeColumns = wholePart(columnStart, columnEnd);
  frame.loop(rowStart, wholeRows, width, [&](Value row) {
    frame.loop(columnStart, wholeColumns, width, [&](Value column) {
      SmallVector<SmallVector<Value>> squares;
      AffineExpr rowDim = emitter.addDim(row, lanes);
      emitter.setLanes(rowDim, lanes);
      for (const TurnedRead &read : space.reads) {
        SmallVector<Value> square;
        for (int64_t i = 0; i < lanes; ++i)
          square.push_back(emitter.loadStored(
              read.leaf,
              bind(read, getIndex(rowDim, emitter.addDim(frame.add(
                                              column, frame.constant(i)))))));
        transposeInRegisters(square, builder, loc);
        squares.push_back(std::move(square));
      }
      emitter.setLanes(rowDim, 1);
      AffineExpr columnDim = emitter.addDim(column, lanes);
      emitter.setLanes(columnDim, lanes);
      for (int64_t i = 0; i < lanes; ++i) {
        AffineExpr at = emitter.addDim(frame.add(row, frame.constant(i)));
        Index point = getIndex(at, columnDim);
        for (auto [read, square] : llvm::zip_equal(space.reads, squares))
          emitter.seed(read.leaf, bind(read, point),
                       emitter.fromStored(read.leaf, square[i]));
        frame.storeOutputs(point);
      }
      emitter.setLanes(columnDim, 1);
    });
  });
  auto eachElement = [&](Value rowFrom, Value rowTo, Value columnFrom,
                         Value columnTo) {
    frame.loop(rowFrom, rowTo, frame.constant(1), [&](Value row) {
      AffineExpr rowDim = emitter.addDim(row);
      frame.loop(columnFrom, columnTo, frame.constant(1), [&](Value column) {
        frame.storeOutputs(getIndex(rowDim, emitter.addDim(column)));
      });
    });
  };
  eachElement(rowStart, wholeRows, wholeColumns, columnEnd);
  eachElement(wholeRows, rowEnd, columnStart, columnEnd);
}

class TransposeSchedule : public Schedule {
public:
  StringRef getName() const override { return "transpose"; }

  bool matches(const GroupModel &model,
               const MachineModel &machine) const override {
    std::optional<TransposeSpace> space = TransposeSpace::get(model);
    // Buffers of all turned reads must fit in shared memory.
    return space && space->reads.size() <= 3;
  }

  SmallVector<Config> getConfigs(const GroupModel &model,
                                 const MachineModel &machine) const override {
    TransposeSpace space = *TransposeSpace::get(model);
    Config config;
    if (!machine.isGPU) {
      config.lanes = getLanes(model, machine.vectorBytes);
      config.rows = config.columns = 4 * config.lanes;
      return {config};
    }
    Divisors divisors;
    llvm::append_range(divisors.symbols, model.getSymbols().getDivisors());
    int64_t widest = 1;
    for (const TurnedRead &read : space.reads)
      widest = std::max<int64_t>(
          widest, llvm::divideCeil(cast<RankedTensorType>(read.leaf.getType())
                                       .getElementTypeBitWidth(),
                                   8));
    config.lanes = std::clamp<int64_t>(machine.vectorBytes / widest, 1, 8);
    auto divides = [&](unsigned dim) {
      return isKnownMultiple(space.domain.getMerged()[dim].size, config.lanes,
                             divisors);
    };
    while (config.lanes > 1 && !(divides(space.row) && divides(space.column)))
      config.lanes /= 2;
    config.threads = kGpuThreads;
    config.rows = config.columns = widest > 4 ? kGpuTile / 2 : kGpuTile;
    return {config};
  }

  void emit(const GroupModel &model, const MachineModel &machine,
            const Config &config, tile::KernelOp kernel,
            OpBuilder &builder) const override {
    TransposeKernel(model, machine, config, kernel, builder)
        .emit(machine.isGPU);
  }
};

} // namespace

std::unique_ptr<Schedule> createTransposeSchedule() {
  return std::make_unique<TransposeSchedule>();
}

} // namespace fusion
