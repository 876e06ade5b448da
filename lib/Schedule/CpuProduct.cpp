//===- CpuProduct.cpp - products and convolutions on a CPU ----------------===//
//
// Chooses how a contraction that is a product of matrices is cut into panels;
// CpuProductKernel.cpp packs and multiplies them.
//
//===----------------------------------------------------------------------===//

#include "CpuProductKernel.h"
#include "ProductSpace.h"
#include "fusion/Schedule/Combiner.h"

using namespace mlir;

namespace fusion {

namespace {

class CpuProductSchedule : public Schedule {
public:
  StringRef getName() const override { return "cpu-product"; }

  bool matches(const GroupModel &model,
               const MachineModel &machine) const override {
    if (machine.isGPU)
      return false;
    std::optional<ProductSpace> space = ProductSpace::get(model);
    if (!space)
      return false;
    // The dims of the window are taken whole.
    auto window = dyn_cast<AffineConstantExpr>(space->getWholeDepth());
    if (!window || window.getValue() > kDepth || window.getValue() < 1)
      return false;
    Shape shape(model, *space);
    int64_t lanes = getProductLanes(*space, machine);
    return shape.rows >= 4 && 2 * shape.columns >= lanes && shape.depth >= 8;
  }

  SmallVector<Config> getConfigs(const GroupModel &model,
                                 const MachineModel &machine) const override {
    ProductSpace space = *ProductSpace::get(model);
    Shape shape(model, space);
    Config config;
    config.lanes = getProductLanes(space, machine);
    config.width = shape.columns <= config.lanes ? 1 : 2;
    // All registers, but those of the columns and one for the row's element.
    int64_t registers = machine.vectorBytes >= 64 ? 32 : 16;
    int64_t most = (registers - 1 - config.width) / config.width;
    auto balance = [](int64_t size, int64_t most) {
      return llvm::divideCeil(size, llvm::divideCeil(size, most));
    };
    config.unroll = balance(shape.rows, most);
    int64_t rowPanels = llvm::divideCeil(shape.rows, config.unroll);
    int64_t columnPanels =
        llvm::divideCeil(shape.columns, config.lanes * config.width);
    // A panel of rows stays in the first cache, those of columns in the second.
    // Whole windows make the depth.
    int64_t depth = llvm::alignTo(shape.depth, config.lanes);
    int64_t blocks = llvm::divideCeil(depth, kDepth);
    config.depth = std::max<int64_t>(
        shape.window,
        llvm::alignTo(llvm::divideCeil(depth, blocks), config.lanes) /
            shape.window * shape.window);
    int64_t panelBytes = config.depth * config.width * machine.vectorBytes;
    config.columns =
        balance(columnPanels,
                std::max<int64_t>(1, machine.cacheBytes * 5 / 8 / panelBytes));
    config.rows = balance(rowPanels, kRowPanels);
    auto getBlocks = [&]() -> int64_t {
      return shape.outer * llvm::divideCeil(rowPanels, config.rows) *
             llvm::divideCeil(columnPanels, config.columns);
    };
    while (getBlocks() < 2 * machine.processors &&
           std::max(config.rows, config.columns) > 4) {
      int64_t &longer =
          config.columns > config.rows ? config.columns : config.rows;
      longer = llvm::divideCeil(longer, 2);
    }
    return {config};
  }

  void emit(const GroupModel &model, const MachineModel &machine,
            const Config &config, tile::KernelOp kernel,
            OpBuilder &builder) const override {
    emitCpuProductKernel(model, config, kernel, builder);
  }

private:
  /// The most elements of a sum in a block.
  static constexpr int64_t kDepth = 320;
  /// The most panels of rows in a block.
  static constexpr int64_t kRowPanels = 64;

  /// The sizes at hand, or likely ones.
  struct Shape {
    int64_t rows = 1, columns, outer = 1, depth, window;

    Shape(const GroupModel &model, const ProductSpace &space) {
      auto hint = [&](AffineExpr size) {
        return model.getSymbols().getHint(size).value_or(256);
      };
      for (unsigned dim : space.rows)
        rows *= hint(space.getSize(dim));
      for (unsigned dim : space.outer)
        outer *= hint(space.getSize(dim));
      columns = hint(space.getSize(space.lane));
      window = hint(space.getWholeDepth());
      depth = hint(space.getBlockedSize()) * window;
    }
  };

  static int64_t getProductLanes(const ProductSpace &space,
                                 const MachineModel &machine) {
    Type type = Combiner(space.hero).getTypes(1).front();
    return machine.vectorBytes * 8 / type.getIntOrFloatBitWidth();
  }
};

} // namespace

std::unique_ptr<Schedule> createCpuProductSchedule() {
  return std::make_unique<CpuProductSchedule>();
}

} // namespace fusion
