//===- IndexMath.cpp - algebra of index expressions -----------------------===//
//
// Written as recursions over the expression rather than with AffineExpr's own
// queries, which know nothing of what divides a symbol.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/IndexMath.h"
#include <numeric>

using namespace mlir;

namespace fusion {

int64_t Divisors::ofSymbol(unsigned position) const {
  return position < symbols.size() ? symbols[position] : 1;
}

int64_t Divisors::ofDim(unsigned position) const {
  return position < dims.size() ? dims[position] : 1;
}

int64_t getKnownDivisor(AffineExpr expr, const Divisors &divisors) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::abs(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return divisors.ofSymbol(symbol.getPosition());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return divisors.ofDim(dim.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t lhs = getKnownDivisor(binary.getLHS(), divisors);
  int64_t rhs = getKnownDivisor(binary.getRHS(), divisors);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
  case AffineExprKind::Mod: // a - b * floor(a / b)
    return std::gcd(lhs, rhs);
  case AffineExprKind::Mul: {
    int64_t result;
    // A product too large to count is divided by either factor all the same.
    return llvm::MulOverflow(lhs, rhs, result) ? std::max(lhs, rhs) : result;
  }
  case AffineExprKind::FloorDiv:
    if (auto by = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      if (by.getValue() > 0 && lhs % by.getValue() == 0)
        return lhs / by.getValue();
    return 1;
  default:
    return 1;
  }
}

bool isKnownMultiple(AffineExpr expr, int64_t factor,
                     const Divisors &divisors) {
  return getKnownDivisor(expr, divisors) % factor == 0;
}

AffineExpr getCoefficient(AffineExpr expr, unsigned dim) {
  MLIRContext *context = expr.getContext();
  if (!expr.isFunctionOfDim(dim))
    return getAffineConstantExpr(0, context);
  if (isa<AffineDimExpr>(expr))
    return getAffineConstantExpr(1, context);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return nullptr;
  AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
  if (expr.getKind() == AffineExprKind::Add) {
    AffineExpr a = getCoefficient(lhs, dim), b = getCoefficient(rhs, dim);
    return a && b ? a + b : AffineExpr();
  }
  if (expr.getKind() == AffineExprKind::Mul) {
    if (!rhs.isFunctionOfDim(dim))
      if (AffineExpr a = getCoefficient(lhs, dim))
        return a * rhs;
    if (!lhs.isFunctionOfDim(dim))
      if (AffineExpr b = getCoefficient(rhs, dim))
        return b * lhs;
  }
  return nullptr;
}

AffineExpr dropDim(AffineExpr expr, unsigned dim) {
  MLIRContext *context = expr.getContext();
  return expr.replace(getAffineDimExpr(dim, context),
                      getAffineConstantExpr(0, context));
}

/// True if no vector of `lanes` whose first element is `expr` (changing by one
/// a lane) straddles a multiple of `by`.
static bool staysWithin(AffineExpr expr, AffineExpr by, int64_t lanes,
                        const Divisors &divisors) {
  return isKnownMultiple(expr, lanes, divisors) &&
         isKnownMultiple(by, lanes, divisors);
}

AffineExpr getLaneStride(AffineExpr expr, unsigned dim, int64_t lanes,
                         const Divisors &divisors) {
  MLIRContext *context = expr.getContext();
  auto constant = [&](int64_t value) {
    return getAffineConstantExpr(value, context);
  };
  if (!expr.isFunctionOfDim(dim))
    return constant(0);
  if (isa<AffineDimExpr>(expr))
    return constant(1);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
  AffineExpr a = getLaneStride(lhs, dim, lanes, divisors);
  if (!a)
    return nullptr;
  if (expr.getKind() == AffineExprKind::Add) {
    AffineExpr b = getLaneStride(rhs, dim, lanes, divisors);
    return b ? a + b : AffineExpr();
  }
  AffineExpr b = getLaneStride(rhs, dim, lanes, divisors);
  if (!b)
    return nullptr;
  if (expr.getKind() == AffineExprKind::Mul) {
    if (b == constant(0))
      return a * rhs;
    return a == constant(0) ? b * lhs : AffineExpr();
  }
  if (b != constant(0))
    return nullptr;
  if (a == constant(0)) // the dim only occurs within a uniform part
    return constant(0);
  if (a != constant(1) || !staysWithin(lhs, rhs, lanes, divisors))
    return nullptr;
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return constant(0);
  return expr.getKind() == AffineExprKind::Mod ? a : AffineExpr();
}

/// `expr + value` with all constants of the sum added up, so that those that
/// cancel hide no divisor.
static AffineExpr addConstant(AffineExpr expr, int64_t value) {
  AffineExpr rest = getAffineConstantExpr(0, expr.getContext());
  SmallVector<AffineExpr> terms{expr};
  while (!terms.empty()) {
    AffineExpr term = terms.pop_back_val();
    if (auto constant = dyn_cast<AffineConstantExpr>(term)) {
      value += constant.getValue();
    } else if (term.getKind() == AffineExprKind::Add) {
      auto sum = cast<AffineBinaryOpExpr>(term);
      terms.append({sum.getRHS(), sum.getLHS()});
    } else {
      rest = rest + term;
    }
  }
  return rest + value;
}

bool isLaneUniformGuard(AffineExpr expr, unsigned dim, int64_t lanes,
                        const Divisors &divisors) {
  AffineExpr stride = getLaneStride(expr, dim, lanes, divisors);
  auto constant = dyn_cast_or_null<AffineConstantExpr>(stride);
  if (!constant)
    return false;
  if (constant.getValue() == 0)
    return true;
  // Rising: the first lane is a multiple of the lanes, so none but the first
  // can cross zero. Falling: the last lane is -1 modulo the lanes.
  if (constant.getValue() == 1)
    return isKnownMultiple(addConstant(expr, 0), lanes, divisors);
  return constant.getValue() == -1 &&
         isKnownMultiple(addConstant(expr, 1), lanes, divisors);
}

AffineExpr linearize(ArrayRef<AffineExpr> index, ArrayRef<AffineExpr> strides,
                     MLIRContext *context) {
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (auto [i, stride] : llvm::zip_equal(index, strides))
    sum = sum + i * stride;
  return sum;
}

AffineExpr product(ArrayRef<AffineExpr> factors, MLIRContext *context) {
  AffineExpr result = getAffineConstantExpr(1, context);
  for (AffineExpr factor : factors)
    result = result * factor;
  return result;
}

SmallVector<AffineExpr> substituteDims(ArrayRef<AffineExpr> exprs,
                                       ArrayRef<AffineExpr> dims) {
  SmallVector<AffineExpr> result;
  for (AffineExpr expr : exprs)
    result.push_back(expr.replaceDims(dims));
  return result;
}

std::optional<int64_t> evaluate(AffineExpr expr,
                                ArrayRef<std::optional<int64_t>> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    if (symbol.getPosition() < symbols.size())
      return symbols[symbol.getPosition()];
    return std::nullopt;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<int64_t> a = evaluate(binary.getLHS(), symbols);
  std::optional<int64_t> b = evaluate(binary.getRHS(), symbols);
  if (!a || !b)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return *a + *b;
  case AffineExprKind::Mul:
    return *a * *b;
  case AffineExprKind::FloorDiv:
    return *b > 0 ? std::optional(llvm::divideFloorSigned(*a, *b))
                  : std::nullopt;
  case AffineExprKind::CeilDiv:
    return *b > 0 ? std::optional(llvm::divideCeilSigned(*a, *b))
                  : std::nullopt;
  case AffineExprKind::Mod:
    return *b > 0 ? std::optional(llvm::mod(*a, *b)) : std::nullopt;
  default:
    return std::nullopt;
  }
}

} // namespace fusion
