//===- Dims.cpp - shared by the size inference of the dialect -------------===//
//
// The helpers of Dims.h, and the one rule of all elementwise ops: a result has
// the sizes of the first operand.
//
//===----------------------------------------------------------------------===//

#include "Dims.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fusion;

Dims fusion::staticDims(Type type) {
  Dims dims;
  for (int64_t size : cast<ShapedType>(type).getShape())
    dims.push_back(ShapedType::isDynamic(size)
                       ? AffineExpr()
                       : getAffineConstantExpr(size, type.getContext()));
  return dims;
}

Dims fusion::withoutDims(ArrayRef<AffineExpr> dims, ArrayRef<int64_t> removed) {
  Dims kept;
  for (auto [index, dim] : llvm::enumerate(dims))
    if (!llvm::is_contained(removed, static_cast<int64_t>(index)))
      kept.push_back(dim);
  return kept;
}

bool fusion::isConstant(AffineExpr expr, int64_t value) {
  auto constant = dyn_cast_if_present<AffineConstantExpr>(expr);
  return constant && constant.getValue() == value;
}

int64_t WindowDim::offset() const {
  int64_t beyond = high - dilation * (window - 1) - 1 + stride;
  // A window must not start beyond `size + low`, which bounds their number by
  // ceil((size + low) / stride). Both bounds divide by the stride, so the
  // smaller one is known without the size.
  return low + (ceilMode ? std::min<int64_t>(beyond, 0) : beyond);
}

int64_t WindowDim::count(int64_t size) const {
  int64_t numerator = size + offset();
  return ceilMode ? llvm::divideCeilSigned(numerator, stride)
                  : llvm::divideFloorSigned(numerator, stride);
}

AffineExpr WindowDim::count(AffineExpr size) const {
  AffineExpr numerator = size + offset();
  return ceilMode ? numerator.ceilDiv(stride) : numerator.floorDiv(stride);
}

#define FUSION_ELEMENTWISE_DIMS(Op)                                            \
  SmallVector<AffineExpr> Op::inferDims(                                       \
      unsigned, ArrayRef<SmallVector<AffineExpr>> operands) {                  \
    return operands.front();                                                   \
  }

// The ops of FusionElementwise.td.
FUSION_ELEMENTWISE_DIMS(AbsOp)
FUSION_ELEMENTWISE_DIMS(AcosOp)
FUSION_ELEMENTWISE_DIMS(AcoshOp)
FUSION_ELEMENTWISE_DIMS(AddOp)
FUSION_ELEMENTWISE_DIMS(AndOp)
FUSION_ELEMENTWISE_DIMS(AsinOp)
FUSION_ELEMENTWISE_DIMS(AsinhOp)
FUSION_ELEMENTWISE_DIMS(Atan2Op)
FUSION_ELEMENTWISE_DIMS(AtanOp)
FUSION_ELEMENTWISE_DIMS(AtanhOp)
FUSION_ELEMENTWISE_DIMS(CbrtOp)
FUSION_ELEMENTWISE_DIMS(CeilOp)
FUSION_ELEMENTWISE_DIMS(ClampOp)
FUSION_ELEMENTWISE_DIMS(CompareOp)
FUSION_ELEMENTWISE_DIMS(ConvertOp)
FUSION_ELEMENTWISE_DIMS(CopysignOp)
FUSION_ELEMENTWISE_DIMS(CosOp)
FUSION_ELEMENTWISE_DIMS(CoshOp)
FUSION_ELEMENTWISE_DIMS(DivOp)
FUSION_ELEMENTWISE_DIMS(EluOp)
FUSION_ELEMENTWISE_DIMS(ErfOp)
FUSION_ELEMENTWISE_DIMS(ErfcOp)
FUSION_ELEMENTWISE_DIMS(Exp2Op)
FUSION_ELEMENTWISE_DIMS(ExpOp)
FUSION_ELEMENTWISE_DIMS(Expm1Op)
FUSION_ELEMENTWISE_DIMS(FloorDivOp)
FUSION_ELEMENTWISE_DIMS(FloorOp)
FUSION_ELEMENTWISE_DIMS(FmodOp)
FUSION_ELEMENTWISE_DIMS(GeluOp)
FUSION_ELEMENTWISE_DIMS(HardSigmoidOp)
FUSION_ELEMENTWISE_DIMS(HardSwishOp)
FUSION_ELEMENTWISE_DIMS(HypotOp)
FUSION_ELEMENTWISE_DIMS(IsFiniteOp)
FUSION_ELEMENTWISE_DIMS(IsInfOp)
FUSION_ELEMENTWISE_DIMS(IsNanOp)
FUSION_ELEMENTWISE_DIMS(LeakyReluOp)
FUSION_ELEMENTWISE_DIMS(Log10Op)
FUSION_ELEMENTWISE_DIMS(Log1pOp)
FUSION_ELEMENTWISE_DIMS(Log2Op)
FUSION_ELEMENTWISE_DIMS(LogOp)
FUSION_ELEMENTWISE_DIMS(MaxOp)
FUSION_ELEMENTWISE_DIMS(MinOp)
FUSION_ELEMENTWISE_DIMS(MishOp)
FUSION_ELEMENTWISE_DIMS(MulOp)
FUSION_ELEMENTWISE_DIMS(NegOp)
FUSION_ELEMENTWISE_DIMS(NotOp)
FUSION_ELEMENTWISE_DIMS(OrOp)
FUSION_ELEMENTWISE_DIMS(PowOp)
FUSION_ELEMENTWISE_DIMS(ReciprocalOp)
FUSION_ELEMENTWISE_DIMS(ReluOp)
FUSION_ELEMENTWISE_DIMS(RemainderOp)
FUSION_ELEMENTWISE_DIMS(RoundOp)
FUSION_ELEMENTWISE_DIMS(RsqrtOp)
FUSION_ELEMENTWISE_DIMS(SelectOp)
FUSION_ELEMENTWISE_DIMS(ShiftLeftOp)
FUSION_ELEMENTWISE_DIMS(ShiftRightOp)
FUSION_ELEMENTWISE_DIMS(SigmoidOp)
FUSION_ELEMENTWISE_DIMS(SignOp)
FUSION_ELEMENTWISE_DIMS(SiluOp)
FUSION_ELEMENTWISE_DIMS(SinOp)
FUSION_ELEMENTWISE_DIMS(SinhOp)
FUSION_ELEMENTWISE_DIMS(SoftplusOp)
FUSION_ELEMENTWISE_DIMS(SqrtOp)
FUSION_ELEMENTWISE_DIMS(SubOp)
FUSION_ELEMENTWISE_DIMS(TanOp)
FUSION_ELEMENTWISE_DIMS(TanhOp)
FUSION_ELEMENTWISE_DIMS(TruncOp)
FUSION_ELEMENTWISE_DIMS(XorOp)
#undef FUSION_ELEMENTWISE_DIMS
