//===- ReshapeOp.cpp - sizes and index map of fusion.reshape --------------===//
//
// A reshape is a linearisation under one shape and a delinearisation under
// another. Done over all dimensions that costs a division each, so the shapes
// are cut into the smallest blocks of equal size first: an unchanged dimension
// is a block of its own and keeps its index, and only merged or split
// dimensions pay.
//
//===----------------------------------------------------------------------===//

#include "Dims.h"
#include "VerifyUtils.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace fusion;

namespace {

/// A product of sizes: a constant times symbolic factors, in which equal ones
/// cancel. Products of sizes are not affine, so AffineExpr alone cannot tell
/// that `s0 * s1` and `s1 * s0` agree.
class SizeProduct {
public:
  SizeProduct &operator*=(AffineExpr size) {
    if (auto constant = dyn_cast<AffineConstantExpr>(size)) {
      constantFactor *= constant.getValue();
    } else if (size.getKind() == AffineExprKind::Mul) {
      auto product = cast<AffineBinaryOpExpr>(size);
      *this *= product.getLHS();
      *this *= product.getRHS();
    } else {
      factors.push_back(size);
    }
    return *this;
  }

  bool operator==(const SizeProduct &other) const {
    return constantFactor == other.constantFactor &&
           factors.size() == other.factors.size() &&
           std::is_permutation(factors.begin(), factors.end(),
                               other.factors.begin());
  }

  /// This product divided by `divisor`, after cancelling.
  AffineExpr dividedBy(SizeProduct divisor, MLIRContext *context) const {
    SizeProduct rest{*this};
    llvm::erase_if(rest.factors, [&](AffineExpr factor) {
      auto *match = llvm::find(divisor.factors, factor);
      if (match == divisor.factors.end())
        return false;
      divisor.factors.erase(match);
      return true;
    });
    if (divisor.constantFactor != 0 &&
        rest.constantFactor % divisor.constantFactor == 0) {
      rest.constantFactor /= divisor.constantFactor;
      divisor.constantFactor = 1;
    }
    return rest.toExpr(context).floorDiv(divisor.toExpr(context));
  }

private:
  AffineExpr toExpr(MLIRContext *context) const {
    AffineExpr expr = getAffineConstantExpr(constantFactor, context);
    for (AffineExpr factor : factors)
      expr = factor * expr;
    return expr;
  }

  int64_t constantFactor = 1;
  SmallVector<AffineExpr> factors;
};

/// Dimensions of the operand and of the result with the same number of
/// elements.
struct DimBlock {
  SmallVector<unsigned> operand, result;
};

} // namespace

static SizeProduct productOf(ArrayRef<AffineExpr> sizes) {
  SizeProduct product;
  for (AffineExpr size : sizes)
    product *= size;
  return product;
}

/// The dimensions whose size is not 1: the others have index 0 and take no
/// part.
static SmallVector<unsigned> nonUnitDims(ArrayRef<AffineExpr> sizes) {
  SmallVector<unsigned> dims;
  for (unsigned dim = 0; dim < sizes.size(); ++dim)
    if (!isConstant(sizes[dim], 1))
      dims.push_back(dim);
  return dims;
}

/// Takes the smallest block off the front of `operandDims` and `resultDims`,
/// or all that is left where no shorter prefixes agree.
static DimBlock takeBlock(ArrayRef<unsigned> &operandDims,
                          ArrayRef<unsigned> &resultDims,
                          ArrayRef<AffineExpr> operand,
                          ArrayRef<AffineExpr> result) {
  auto prefixProducts = [](ArrayRef<unsigned> dims, ArrayRef<AffineExpr> all) {
    SmallVector<SizeProduct> products;
    SizeProduct product;
    for (unsigned dim : dims)
      products.push_back(product *= all[dim]);
    return products;
  };
  auto take = [](ArrayRef<unsigned> &dims, size_t count) {
    SmallVector<unsigned> taken(dims.take_front(count));
    dims = dims.drop_front(count);
    return taken;
  };
  SmallVector<SizeProduct> operandProducts =
      prefixProducts(operandDims, operand);
  SmallVector<SizeProduct> resultProducts = prefixProducts(resultDims, result);
  for (auto [index, product] : llvm::enumerate(operandProducts)) {
    auto *match = llvm::find(resultProducts, product);
    if (match != resultProducts.end())
      return {take(operandDims, index + 1),
              take(resultDims, match - resultProducts.begin() + 1)};
  }
  return {take(operandDims, operandDims.size()),
          take(resultDims, resultDims.size())};
}

/// `sizes`, with the type's static sizes as constants.
static Dims preferStatic(RankedTensorType type, ArrayRef<AffineExpr> sizes) {
  Dims dims = llvm::to_vector(sizes);
  for (unsigned dim = 0; dim < dims.size(); ++dim)
    if (!type.isDynamicDim(dim))
      dims[dim] =
          getAffineConstantExpr(type.getDimSize(dim), type.getContext());
  return dims;
}

/// Sets the operand's indices of `block` from the result's.
static void mapBlock(const DimBlock &block, ArrayRef<AffineExpr> operand,
                     ArrayRef<AffineExpr> result, MLIRContext *context,
                     MutableArrayRef<AffineExpr> index) {
  AffineExpr linear = getAffineConstantExpr(0, context);
  AffineExpr stride = getAffineConstantExpr(1, context);
  for (unsigned dim : llvm::reverse(block.result)) {
    linear = getAffineDimExpr(dim, context) * stride + linear;
    stride = stride * result[dim];
  }
  stride = getAffineConstantExpr(1, context);
  for (unsigned dim : llvm::reverse(block.operand)) {
    index[dim] = linear.floorDiv(stride);
    // The outermost index is below its size already.
    if (dim != block.operand.front())
      index[dim] = index[dim] % operand[dim];
    stride = stride * operand[dim];
  }
}

/// True if result size `dim` is symbolic and the operand's at the same
/// position is too: it is taken for the same where more than one is unknown.
static bool hasOperandSize(ReshapeOp op, unsigned dim) {
  RankedTensorType type = op.getX().getType();
  return dim < type.getRank() && type.isDynamicDim(dim);
}

/// The name of dimension `dim`, or an empty string.
static StringRef getSymbol(Type type, unsigned dim) {
  LayoutAttr layout = getLayout(type);
  return layout && !layout.getSymbols().empty()
             ? layout.getSymbols()[dim].getValue()
             : StringRef();
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType from = getX().getType(), to = getResult().getType();
  // C1
  if (from.hasStaticShape() && to.hasStaticShape() &&
      from.getNumElements() != to.getNumElements())
    return emitOpError() << "expects as many elements in the result as in the "
                            "operand, got "
                         << to.getNumElements() << " in " << formatShape(to)
                         << " and " << from.getNumElements() << " in "
                         << formatShape(from);
  // C2
  SmallVector<int64_t> unknown;
  for (unsigned dim = 0; dim < to.getRank(); ++dim)
    if (to.isDynamicDim(dim) && getSymbol(to, dim).empty() &&
        !hasOperandSize(*this, dim))
      unknown.push_back(dim);
  if (unknown.size() > 1)
    return emitOpError() << "expects at most one symbolic result size to "
                            "infer, got dimensions "
                         << formatList(unknown) << " of " << formatShape(to)
                         << " from " << formatShape(from)
                         << "; name the sizes with #fusion.layout<symbols>";
  return success();
}

SmallVector<AffineExpr>
ReshapeOp::inferDims(unsigned, ArrayRef<SmallVector<AffineExpr>> operands) {
  RankedTensorType from = getX().getType(), to = getResult().getType();
  Dims dims = staticDims(to);

  // Symbolic sizes: a name that the operand has too says the size, another
  // name is looked up by the caller.
  SmallVector<unsigned> open, named;
  for (unsigned dim = 0; dim < dims.size(); ++dim) {
    StringRef symbol = getSymbol(to, dim);
    for (unsigned other = 0; other < from.getRank() && !dims[dim]; ++other)
      if (!symbol.empty() && getSymbol(from, other) == symbol)
        dims[dim] = operands.front()[other];
    if (!dims[dim])
      (symbol.empty() ? open : named).push_back(dim);
  }

  // The number of elements decides one size, if all others are known: the one
  // without a counterpart in the operand, else the last.
  std::optional<unsigned> inferred;
  auto hasCounterpart = [&](unsigned dim) {
    return hasOperandSize(*this, dim);
  };
  if (auto *it = llvm::find_if_not(open, hasCounterpart); it != open.end())
    inferred = *it;
  else if (named.size() == 1)
    inferred = named.front();
  else if (named.empty() && !open.empty())
    inferred = open.back();
  for (unsigned dim : open)
    if (dim != inferred)
      dims[dim] = operands.front()[dim];

  SizeProduct known;
  for (unsigned dim = 0; dim < dims.size(); ++dim) {
    if (dim == inferred)
      continue;
    if (!dims[dim])
      return dims;
    known *= dims[dim];
  }
  if (inferred)
    dims[*inferred] =
        productOf(operands.front()).dividedBy(known, getContext());
  return dims;
}

bool ReshapeOp::isView() { return true; }

SmallVector<OperandAccess>
ReshapeOp::getAccesses(ArrayRef<SmallVector<AffineExpr>> operands,
                       ArrayRef<AffineExpr> result) {
  ArrayRef<AffineExpr> operand = operands.front();
  SmallVector<AffineExpr> index(operand.size(),
                                getAffineConstantExpr(0, getContext()));
  // Without elements nothing is read, and no block must divide by 0.
  if (llvm::any_of(operand,
                   [](AffineExpr size) { return isConstant(size, 0); }))
    return {{0, index, {}}};

  // A caller may know a static size by a symbol only; products compare as the
  // types state them.
  Dims knownOperand = preferStatic(getX().getType(), operand);
  Dims knownResult = preferStatic(getType(), result);
  SmallVector<unsigned> operandDims = nonUnitDims(operand);
  SmallVector<unsigned> resultDims = nonUnitDims(result);
  ArrayRef<unsigned> operandLeft = operandDims, resultLeft = resultDims;
  while (!operandLeft.empty())
    mapBlock(takeBlock(operandLeft, resultLeft, knownOperand, knownResult),
             operand, result, getContext(), index);
  return {{0, index, {}}};
}
