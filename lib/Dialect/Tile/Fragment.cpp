//===- Fragment.cpp - layouts of fragments as lists of steps --------------===//
//
// The tables of the PTX manual's chapter on mma.sync follow from one rule. Lane
// 4g + t has row g of A, column g of B, row g of the accumulator. Along k it
// holds the elements of its t-th 32-bit register, and of the register as far
// behind as four lanes reach; A and the accumulator have 8 rows further down
// the same again.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/Fragment.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace fusion::tile;

MmaShape fusion::tile::getMmaShape(MmaKind kind) {
  switch (kind) {
  case MmaKind::m16n8k16_f16:
  case MmaKind::m16n8k16_bf16:
    return {16, 8, 16};
  case MmaKind::m16n8k8_tf32:
    return {16, 8, 8};
  case MmaKind::m16n8k32_s8:
  case MmaKind::m16n8k32_u8:
    return {16, 8, 32};
  case MmaKind::m8n8k4_f64:
    return {8, 8, 4};
  }
  llvm_unreachable("all kinds are covered");
}

/// The type of the elements of A and B.
static Type getOperandType(MmaKind kind, Builder &builder) {
  switch (kind) {
  case MmaKind::m16n8k16_f16:
    return builder.getF16Type();
  case MmaKind::m16n8k16_bf16:
    return builder.getBF16Type();
  case MmaKind::m16n8k8_tf32:
    return builder.getF32Type();
  case MmaKind::m16n8k32_s8:
  case MmaKind::m16n8k32_u8:
    return builder.getI8Type();
  case MmaKind::m8n8k4_f64:
    return builder.getF64Type();
  }
  llvm_unreachable("all kinds are covered");
}

static Type getAccumulatorType(MmaKind kind, Builder &builder) {
  switch (kind) {
  case MmaKind::m16n8k32_s8:
  case MmaKind::m16n8k32_u8:
    return builder.getI32Type();
  case MmaKind::m8n8k4_f64:
    return builder.getF64Type();
  default:
    return builder.getF32Type();
  }
}

VectorType fusion::tile::getFragmentType(MmaKind kind, FragmentRole role,
                                         MLIRContext *context) {
  Builder builder(context);
  Type element = role == FragmentRole::Accumulator
                     ? getAccumulatorType(kind, builder)
                     : getOperandType(kind, builder);
  return VectorType::get(FragmentLayout(kind, role).getNumElements(), element);
}

/// How many consecutive elements along k a lane holds.
static int64_t getElementsPerRegister(MmaKind kind) {
  switch (kind) {
  case MmaKind::m16n8k16_f16:
  case MmaKind::m16n8k16_bf16:
    return 2;
  case MmaKind::m16n8k32_s8:
  case MmaKind::m16n8k32_u8:
    return 4;
  case MmaKind::m16n8k8_tf32:
  case MmaKind::m8n8k4_f64:
    return 1;
  }
  llvm_unreachable("all kinds are covered");
}

FragmentLayout::FragmentLayout(MmaKind kind, FragmentRole role)
    : isOperand(role != FragmentRole::Accumulator &&
                kind != MmaKind::m8n8k4_f64),
      isA(role == FragmentRole::A),
      elementsPerRegister(getElementsPerRegister(kind)) {
  MmaShape shape = getMmaShape(kind);
  numRows = role == FragmentRole::B ? shape.k : shape.m;
  numColumns = isA ? shape.k : shape.n;

  // `along` the consecutive elements of a lane and `across` them; in B those
  // are in a column.
  auto along = [&](int64_t step) {
    return role == FragmentRole::B ? FragmentPosition{step, 0}
                                   : FragmentPosition{0, step};
  };
  auto across = [&](int64_t step) {
    return role == FragmentRole::B ? FragmentPosition{0, step}
                                   : FragmentPosition{step, 0};
  };
  int64_t run = role == FragmentRole::Accumulator ? 2 : elementsPerRegister;
  laneSteps = {along(run), along(2 * run), across(1), across(2), across(4)};
  for (int64_t step = 1; step < run; step *= 2)
    elementSteps.push_back(along(step));
  if (numRows == 16 && role != FragmentRole::B)
    elementSteps.push_back(across(8));
  if (role != FragmentRole::Accumulator && shape.k > 4 * run)
    elementSteps.push_back(along(4 * run));
}

FragmentPosition FragmentLayout::getPosition(int64_t lane,
                                             int64_t element) const {
  FragmentPosition position;
  auto add = [&](ArrayRef<FragmentPosition> steps, int64_t number) {
    for (auto [bit, step] : llvm::enumerate(steps)) {
      position.row += (number >> bit & 1) * step.row;
      position.column += (number >> bit & 1) * step.column;
    }
  };
  add(laneSteps, lane);
  add(elementSteps, element);
  return position;
}

/// The sum of the steps of the bits that are set in `number`, which has as many
/// as there are steps. Bits whose steps double are taken together.
static AffineExpr sumSteps(AffineExpr number, ArrayRef<int64_t> steps) {
  AffineExpr sum = getAffineConstantExpr(0, number.getContext());
  for (size_t begin = 0, end; begin < steps.size(); begin = end) {
    end = begin + 1;
    while (end < steps.size() && steps[end] == 2 * steps[end - 1])
      ++end;
    if (steps[begin] == 0)
      continue;
    AffineExpr bits = number.floorDiv(int64_t(1) << begin);
    if (end < steps.size())
      bits = bits % (int64_t(1) << (end - begin));
    sum = sum + bits * steps[begin];
  }
  return sum;
}

static FragmentIndex sumSteps(AffineExpr number,
                              ArrayRef<FragmentPosition> steps) {
  auto rows = llvm::map_to_vector(
      steps, [](const FragmentPosition &step) { return step.row; });
  auto columns = llvm::map_to_vector(
      steps, [](const FragmentPosition &step) { return step.column; });
  return {sumSteps(number, rows), sumSteps(number, columns)};
}

FragmentIndex FragmentLayout::getIndex(AffineExpr lane, int64_t element) const {
  FragmentIndex index = sumSteps(lane, laneSteps);
  FragmentPosition offset = getPosition(/*lane=*/0, element);
  return {index.row + offset.row, index.column + offset.column};
}

bool FragmentLayout::canLoadMatrix(bool transposed) const {
  return isOperand && (!transposed || elementsPerRegister == 2);
}

FragmentIndex FragmentLayout::getMatrixRow(AffineExpr lane,
                                           bool transposed) const {
  assert(canLoadMatrix(transposed) && "the fragment has no such load");
  // Bits 0 to 2 of a lane are the row in its matrix, the others the matrix: the
  // register that it fills.
  SmallVector<FragmentPosition> steps;
  if (!transposed)
    steps.append(laneSteps.begin() + 2, laneSteps.end());
  else
    for (int64_t step : {1, 2, 4})
      steps.push_back(isA ? FragmentPosition{0, step}
                          : FragmentPosition{step, 0});
  steps.append(elementSteps.begin() + llvm::Log2_64(elementsPerRegister),
               elementSteps.end());
  steps.resize(laneSteps.size());
  return sumSteps(lane, steps);
}
