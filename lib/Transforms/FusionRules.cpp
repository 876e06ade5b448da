//===- FusionRules.cpp - may and should two sets of ops share a kernel? ---===//
//
// Saved bytes always argue for fusion. Against it stand kernels that no
// schedule runs well, costly elements made over and over, and work squeezed
// into too few blocks.
//
//===----------------------------------------------------------------------===//

#include "fusion/Transforms/FusionRules.h"
#include "fusion/Analysis/IndexMath.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace fusion {

namespace {

/// Kernels take at most this many buffers: 4 KB of parameters hold far more,
/// but registers for their addresses run out.
constexpr unsigned kMaxBuffers = 40;
/// Cost of repeated elements, per point of the kernel's space, that a kernel
/// bound by memory hides; in units of a multiply-add.
constexpr double kHiddenCost = 24;
/// Below so many results a reduction's kernel has too few blocks to also run
/// large elementwise work.
constexpr int64_t kMinSlots = 128;
constexpr int64_t kLargeSpace = 1 << 16;
/// A prologue is made again for every use of an operand's element.
constexpr unsigned kMaxPrologueCost = 2;

FusionVerdict refuse(StringRef rule, const Twine &reason) {
  return {false, rule.str(), reason.str()};
}

int64_t getCount(ArrayRef<AffineExpr> sizes) {
  int64_t count = 1;
  for (AffineExpr size : sizes)
    count *= evaluate(size, {}).value_or(1024);
  return count;
}

/// Points of the space at which an element with this index differs.
int64_t getDistinct(ArrayRef<AffineExpr> index, ArrayRef<AffineExpr> space) {
  int64_t count = 1;
  for (auto [dim, size] : llvm::enumerate(space))
    if (llvm::any_of(
            index, [&, d = dim](AffineExpr e) { return e.isFunctionOfDim(d); }))
      count *= evaluate(size, {}).value_or(1024);
  return count;
}

/// Cost of elements that the kernel makes more often than they exist, per
/// point.
double getRepeatedCost(const GroupView &view, const GroupShape &shape,
                       Operation *&worst) {
  double points = std::max<double>(1, getCount(shape.space));
  double repeated = 0, largest = 0;
  AccessWalk walk = walkPoint(view, shape);
  for (auto &[op, indices] : walk.getComputed()) {
    auto element = dyn_cast<ElementInterface>(op);
    if (!element)
      continue;
    // A vector of lanes makes an element that it shares once.
    double exists = getCount(view.dims(op->getResult(0)));
    double made = 0;
    for (const AccessWalk::Index &index : indices) {
      bool perPoint = getDistinct(index, shape.space) >= points;
      made += perPoint ? points : points / 8;
    }
    double extra =
        std::max(0.0, made - exists) * element.getElementCost() / points;
    repeated += extra;
    if (extra > largest) {
      largest = extra;
      worst = op;
    }
  }
  return repeated;
}

/// The prologue of a contraction: ops between leaves and the hero's operands.
bool isCheapPrologue(const GroupView &producer, std::string &why) {
  for (Operation *op : producer.ops) {
    auto element = dyn_cast<ElementInterface>(op);
    if (!element)
      continue;
    if (element.getElementCost() <= kMaxPrologueCost &&
        op->getNumOperands() == 1)
      continue;
    why = (op->getName().getStringRef() +
           " would be made again for every use of an operand's element")
              .str();
    return false;
  }
  return true;
}

bool isContraction(const GroupView &view) {
  return llvm::any_of(view.getHeroes(), [](Operation *op) {
    return !isa<ReduceOp, ArgReduceOp>(op);
  });
}

} // namespace

FusionVerdict judgeFusion(const GroupView &producer, const GroupView &consumer,
                          const GroupView &merged) {
  if (isContraction(consumer)) {
    std::string why;
    if (!producer.getHeroes().empty())
      return refuse("heroes", "a contraction takes no other hero into its "
                              "kernel");
    if (!isCheapPrologue(producer, why))
      return refuse("prologue", why);
    if (llvm::any_of(producer.outputs, [&](Value value) {
          return llvm::is_contained(merged.outputs, value);
        }))
      return refuse("prologue", "the operand is written to memory for another "
                                "reader all the same");
  }
  GroupShape shape = classify(merged);
  if (shape.kind == GroupKind::General)
    return refuse(isContraction(merged) && merged.getHeroes().size() > 1
                      ? "heroes"
                      : "shape",
                  shape.reason);
  llvm::SetVector<Value> leaves;
  AccessWalk walk = walkPoint(merged, shape);
  unsigned buffers = walk.getLeaves().size() + merged.outputs.size();
  if (buffers > kMaxBuffers)
    return refuse("buffers", llvm::formatv("the kernel would take {0} buffers, "
                                           "more than {1}",
                                           buffers, kMaxBuffers)
                                 .str());
  Operation *worst = nullptr;
  double repeated = getRepeatedCost(merged, shape, worst);
  if (repeated > kHiddenCost)
    return refuse(
        "recompute",
        llvm::formatv("{0} and others would be made again across a "
                      "broadcast, at a cost of {1:F0} multiply-adds an "
                      "element",
                      worst->getName().getStringRef(), repeated)
            .str());
  if (shape.kind == GroupKind::Reduction) {
    std::string reason;
    ReductionSpace space = *ReductionSpace::get(merged, reason);
    int64_t slots = getCount(space.getSlotIndex(space.sizes));
    bool again = llvm::any_of(space.levels, [](unsigned l) { return l > 0; }) ||
                 llvm::any_of(merged.outputs, [&](Value value) {
                   return *space.isFull(merged.dims(value));
                 });
    if (again && slots < kMinSlots && getCount(shape.space) > kLargeSpace)
      return refuse("parallelism",
                    llvm::formatv("only {0} rows: one kernel would leave most "
                                  "of the machine idle",
                                  slots)
                        .str());
  }
  return {true, "fused", "one kernel"};
}

} // namespace fusion
