//===- HeroOps.cpp - reductions and contractions --------------------------===//
//
// Verifiers and sizes of the ops that combine many elements into one.
//
//===----------------------------------------------------------------------===//

#include "Dims.h"
#include "VerifyUtils.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace fusion;

/// `shape` without the dimensions in `removed`.
static SmallVector<int64_t> withoutSizes(ArrayRef<int64_t> shape,
                                         ArrayRef<int64_t> removed) {
  SmallVector<int64_t> kept;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(removed, static_cast<int64_t>(dim)))
      kept.push_back(size);
  return kept;
}

/// The type in which products of `element` are summed up, where a contraction
/// may return it besides `element` itself; null otherwise.
static Type getWideType(Type element) {
  if (element.isF16() || element.isBF16())
    return Float32Type::get(element.getContext());
  if (element.isInteger(8))
    return IntegerType::get(element.getContext(), 32);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// reduce, arg_reduce
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  RankedTensorType from = getX().getType();
  ArrayRef<int64_t> dims = getDims();
  // C1
  for (auto [index, dim] : llvm::enumerate(dims))
    if (dim < 0 || dim >= from.getRank() ||
        (index > 0 && dim <= dims[index - 1]))
      return emitOpError() << "expects 'dims' to increase and to stay at least "
                              "0 and below the rank "
                           << from.getRank() << ", got " << formatList(dims);
  // C2
  if (failed(verifyResultShape(*this, withoutSizes(from.getShape(), dims),
                               "the operand's without 'dims'")))
    return failure();
  // C3
  bool logical = getKind() == ReduceKind::any || getKind() == ReduceKind::all;
  if (logical != from.getElementType().isInteger(1))
    return emitOpError() << "expects " << (logical ? "i1" : "numbers")
                         << " for '" << stringifyReduceKind(getKind())
                         << "', got " << from.getElementType()
                         << "; convert the operand with fusion.convert";
  // C4
  if (getKind() == ReduceKind::min || getKind() == ReduceKind::max)
    for (int64_t dim : dims)
      if (from.getDimSize(dim) == 0)
        return emitOpError()
               << "expects at least one element along each reduced dimension "
                  "for '"
               << stringifyReduceKind(getKind()) << "', got operand "
               << formatShape(from) << " reduced along " << formatList(dims);
  return success();
}

SmallVector<AffineExpr>
ReduceOp::inferDims(unsigned, ArrayRef<SmallVector<AffineExpr>> operands) {
  return withoutDims(operands.front(), getDims());
}

LogicalResult ArgReduceOp::verify() {
  RankedTensorType from = getX().getType();
  // C1
  if (failed(verifyDim(*this, getDim(), from.getRank())))
    return failure();
  if (from.getDimSize(getDim()) == 0)
    return emitOpError() << "expects at least one element along dimension "
                         << getDim() << ", got operand " << formatShape(from);
  // C2
  int64_t dim = getDim();
  return verifyResultShape(*this, withoutSizes(from.getShape(), dim),
                           "the operand's without 'dim'");
}

SmallVector<AffineExpr>
ArgReduceOp::inferDims(unsigned, ArrayRef<SmallVector<AffineExpr>> operands) {
  int64_t dim = getDim();
  return withoutDims(operands.front(), dim);
}

//===----------------------------------------------------------------------===//
// matmul
//===----------------------------------------------------------------------===//

/// The dimension of `rank` that runs over the rows (m or n), the other over k.
static int64_t getOuterDim(int64_t rank, bool outerIsLast) {
  return outerIsLast ? rank - 1 : rank - 2;
}

LogicalResult MatmulOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  RankedTensorType to = getResult().getType();
  int64_t rank = to.getRank();
  // C1
  if (rank < 2 || lhs.getRank() != rank || rhs.getRank() != rank)
    return emitOpError() << "expects operands and result of one rank, at least "
                            "2, got shapes "
                         << formatShape(lhs) << ", " << formatShape(rhs)
                         << " and " << formatShape(to)
                         << "; fusion.broadcast adds batch dimensions";
  // C2
  if (!mayEqual(lhs.getShape().drop_back(2), rhs.getShape().drop_back(2)) ||
      !mayEqual(lhs.getShape().drop_back(2), to.getShape().drop_back(2)))
    return emitOpError() << "expects equal batch sizes, got shapes "
                         << formatShape(lhs) << ", " << formatShape(rhs)
                         << " and " << formatShape(to)
                         << "; fusion.broadcast repeats a batch";
  // C3
  int64_t m = getOuterDim(rank, getTransposeLhs());
  int64_t n = getOuterDim(rank, !getTransposeRhs());
  int64_t lhsK = lhs.getDimSize(2 * rank - 3 - m);
  int64_t rhsK = rhs.getDimSize(2 * rank - 3 - n);
  if (!mayEqual(lhsK, rhsK))
    return emitOpError() << "expects equal sizes to sum over, got " << lhsK
                         << " in " << formatShape(lhs) << " and " << rhsK
                         << " in " << formatShape(rhs)
                         << "; check 'transpose_lhs' and 'transpose_rhs'";
  SmallVector<int64_t> expected(to.getShape().drop_back(2));
  expected.append({lhs.getDimSize(m), rhs.getDimSize(n)});
  if (failed(verifyResultShape(*this, expected, "m x n")))
    return failure();
  // C4
  Type element = lhs.getElementType();
  if (rhs.getElementType() != element)
    return emitOpError() << "expects operands of one element type, got "
                         << element << " and " << rhs.getElementType()
                         << "; convert one with fusion.convert";
  if (to.getElementType() != element &&
      to.getElementType() != getWideType(element))
    return emitOpError() << "expects a result of the operands' element type, "
                            "or f32 for f16 and bf16, or i32 for 8-bit "
                            "integers, got "
                         << to.getElementType() << " for " << element;
  return success();
}

SmallVector<AffineExpr>
MatmulOp::inferDims(unsigned, ArrayRef<SmallVector<AffineExpr>> operands) {
  int64_t rank = getType().getRank();
  Dims dims(ArrayRef<AffineExpr>(operands[0]).drop_back(2));
  dims.push_back(operands[0][getOuterDim(rank, getTransposeLhs())]);
  dims.push_back(operands[1][getOuterDim(rank, !getTransposeRhs())]);
  return dims;
}
