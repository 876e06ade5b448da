//===- Schedules.cpp - the list of schedules, and the kernel's frame ------===//

#include "fusion/Schedule/Schedule.h"

using namespace mlir;

namespace fusion {

MachineModel MachineModel::getCPU(int64_t vectorBytes, int64_t cores) {
  MachineModel machine;
  machine.vectorBytes = vectorBytes;
  machine.processors = cores;
  return machine;
}

MachineModel MachineModel::getGPU(StringRef arch) {
  MachineModel machine;
  machine.isGPU = true;
  machine.vectorBytes = 16;
  bool datacenter = arch.starts_with("sm_80") || arch.starts_with("sm_9") ||
                    arch.starts_with("sm_10");
  machine.processors = datacenter ? 132 : 64;
  machine.sharedBytes = datacenter ? 227 * 1024 : 99 * 1024;
  return machine;
}

ArrayRef<std::unique_ptr<Schedule>> getSchedules() {
  static const std::vector<std::unique_ptr<Schedule>> schedules = [] {
    std::vector<std::unique_ptr<Schedule>> list;
    list.push_back(createTransposeSchedule());
    list.push_back(createElementwiseSchedule());
    list.push_back(createReductionSchedule());
    list.push_back(createCpuProductSchedule());
    list.push_back(createContractionSchedule());
    list.push_back(createGeneralSchedule());
    return list;
  }();
  return schedules;
}

/// The kernel with its arguments and an empty body.
static tile::KernelOp createKernel(const GroupModel &model, StringRef name,
                                   OpBuilder &builder) {
  MLIRContext *context = builder.getContext();
  SmallVector<Type> types;
  SmallVector<Attribute> attributes;
  auto addBuffer = [&](Type type, StringRef access, Attribute align) {
    Type element = tile::getBufferElementType(
        cast<RankedTensorType>(type).getElementType());
    types.push_back(MemRefType::get({ShapedType::kDynamic}, element));
    SmallVector<NamedAttribute> entries{builder.getNamedAttr(
        tile::accessAttrName, builder.getStringAttr(access))};
    if (align)
      entries.push_back(builder.getNamedAttr(tile::alignAttrName, align));
    attributes.push_back(builder.getDictionaryAttr(entries));
  };
  GroupOp group = model.getGroup();
  auto aligns = group->getAttrOfType<DenseI64ArrayAttr>("fusion.align");
  for (auto [i, type] : llvm::enumerate(group.getInputs().getTypes()))
    addBuffer(type, "read", builder.getI64IntegerAttr(aligns ? aligns[i] : 16));
  for (Type type : group.getResultTypes())
    addBuffer(type, "write", builder.getI64IntegerAttr(16));
  for (int64_t divisor : model.getSymbols().getDivisors()) {
    types.push_back(builder.getIndexType());
    attributes.push_back(builder.getDictionaryAttr({builder.getNamedAttr(
        tile::divisorAttrName, builder.getI64IntegerAttr(divisor))}));
  }
  unsigned symbols = model.getSymbols().getHostExprs().size();
  auto kernel = tile::KernelOp::create(
      builder, group.getLoc(), name, builder.getFunctionType(types, {}),
      AffineMap::get(0, symbols, getAffineConstantExpr(1, context)),
      /*threads=*/1, /*index_bits=*/64, builder.getArrayAttr(attributes),
      /*res_attrs=*/ArrayAttr());
  Block *body = &kernel.getBody().emplaceBlock();
  for (Type type : types)
    body->addArgument(type, group.getLoc());
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(body);
  tile::ReturnOp::create(builder, group.getLoc());
  return kernel;
}

tile::KernelOp emitKernel(const GroupModel &model, const MachineModel &machine,
                          StringRef name, OpBuilder &builder) {
  tile::KernelOp kernel = createKernel(model, name, builder);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPoint(kernel.getBody().front().getTerminator());
  for (const std::unique_ptr<Schedule> &schedule : getSchedules()) {
    if (!schedule->matches(model, machine))
      continue;
    kernel->setAttr("fusion.schedule",
                    builder.getStringAttr(schedule->getName()));
    schedule->emit(model, machine, schedule->getConfigs(model, machine).front(),
                   kernel, builder);
    break;
  }
  return kernel;
}

} // namespace fusion
