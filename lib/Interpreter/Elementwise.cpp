//===- Elementwise.cpp - evaluation of elementwise ops --------------------===//
//
// Each op is a function on doubles or 64-bit integers, applied element by
// element and rounded once to the result type. The functions of C's library in
// double are within a unit in the last place of every narrower type.
//
//===----------------------------------------------------------------------===//

#include "Evaluate.h"
#include "Scalar.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::interpreter;

using FloatUnary = function_ref<double(double)>;
using IntUnary = function_ref<int64_t(int64_t)>;
using FloatBinary = function_ref<double(double, double)>;
using IntBinary = function_ref<int64_t(int64_t, int64_t)>;

//===----------------------------------------------------------------------===//
// Application to tensors
//===----------------------------------------------------------------------===//

static Tensor mapFloats(const Tensor &x, FloatUnary function) {
  Tensor result(x.getDType(), x.getSizes());
  for (auto [out, in] : llvm::zip_equal(result.floats(), x.floats()))
    out = function(in);
  return std::move(result).normalize();
}

static Tensor mapInts(const Tensor &x, IntUnary function) {
  Tensor result(x.getDType(), x.getSizes());
  for (auto [out, in] : llvm::zip_equal(result.ints(), x.ints()))
    out = function(in);
  return std::move(result).normalize();
}

static Tensor mapNumbers(const Tensor &x, FloatUnary ofFloat, IntUnary ofInt) {
  return x.isFloat() ? mapFloats(x, ofFloat) : mapInts(x, ofInt);
}

static Tensor mapFloats(const Tensor &a, const Tensor &b,
                        FloatBinary function) {
  Tensor result(a.getDType(), a.getSizes());
  for (auto [out, x, y] :
       llvm::zip_equal(result.floats(), a.floats(), b.floats()))
    out = function(x, y);
  return std::move(result).normalize();
}

static Tensor mapInts(const Tensor &a, const Tensor &b, IntBinary function) {
  Tensor result(a.getDType(), a.getSizes());
  for (auto [out, x, y] : llvm::zip_equal(result.ints(), a.ints(), b.ints()))
    out = function(x, y);
  return std::move(result).normalize();
}

static Tensor mapNumbers(const Tensor &a, const Tensor &b, FloatBinary ofFloat,
                         IntBinary ofInt) {
  return a.isFloat() ? mapFloats(a, b, ofFloat) : mapInts(a, b, ofInt);
}

static Tensor test(const Tensor &x, function_ref<bool(double)> function) {
  Tensor result(DType::Bool, x.getSizes());
  for (auto [out, in] : llvm::zip_equal(result.ints(), x.floats()))
    out = function(in);
  return result;
}

//===----------------------------------------------------------------------===//
// Functions of one element
//===----------------------------------------------------------------------===//

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

static double softplus(double x) {
  return x > 20 ? x : std::log1p(std::exp(x));
}

static double clamp(double x, double lo, double hi) {
  return minimum(maximum(x, lo), hi);
}

static double gelu(double x) {
  return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
}

static double geluTanh(double x) {
  const double pi = 3.14159265358979323846;
  return x / 2 *
         (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * x * x * x)));
}

static double signOf(double x) {
  return x > 0 ? 1 : x < 0 ? -1 : x; // NaN and the zeros give themselves
}

template <typename T> static bool compare(CompareKind kind, T a, T b) {
  switch (kind) {
  case CompareKind::eq:
    return a == b;
  case CompareKind::ne:
    return a != b;
  case CompareKind::lt:
    return a < b;
  case CompareKind::le:
    return a <= b;
  case CompareKind::gt:
    return a > b;
  case CompareKind::ge:
    return a >= b;
  }
  llvm_unreachable("a comparison of no kind");
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

/// Truncates toward zero and saturates; NaN gives 0.
static int64_t toInt(DType dtype, double value) {
  if (dtype == DType::Bool)
    return value != 0;
  if (std::isnan(value))
    return 0;
  // The bounds as doubles are exact but for 2^63 - 1, which rounds to 2^63: the
  // comparison with >= is right for both.
  if (value >= static_cast<double>(getMax(dtype)))
    return getMax(dtype);
  if (value <= static_cast<double>(getMin(dtype)))
    return getMin(dtype);
  return static_cast<int64_t>(value);
}

/// Rounds once, also where a 64-bit integer has more bits than a double.
static double toFloat(DType dtype, int64_t value) {
  switch (dtype) {
  case DType::F64:
    return static_cast<double>(value);
  case DType::F32:
    return static_cast<float>(value);
  default:
    break;
  }
  llvm::APFloat rounded(dtype == DType::F16 ? llvm::APFloat::IEEEhalf()
                                            : llvm::APFloat::BFloat());
  rounded.convertFromAPInt(llvm::APInt(64, value, /*isSigned=*/true),
                           /*IsSigned=*/true,
                           llvm::APFloat::rmNearestTiesToEven);
  return rounded.convertToDouble();
}

static Tensor convert(const Tensor &x, DType dtype) {
  Tensor result(dtype, x.getSizes());
  for (int64_t i = 0, e = x.getNumElements(); i < e; ++i) {
    if (x.isFloat() && isFloat(dtype))
      result.floats()[i] = roundTo(dtype, x.floats()[i]);
    else if (x.isFloat())
      result.ints()[i] = toInt(dtype, x.floats()[i]);
    else if (isFloat(dtype))
      result.floats()[i] = toFloat(dtype, x.ints()[i]);
    else
      result.ints()[i] = wrapTo(dtype, x.ints()[i]);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Ops on one operand of any number type, and activations with attributes.
static std::optional<Tensor> evaluateUnary(Operation *op, const Tensor &x) {
  using Value = std::optional<Tensor>;
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](AbsOp) {
        return mapNumbers(
            x, [](double v) { return std::fabs(v); },
            [](int64_t v) { return v < 0 ? sub(0, v) : v; });
      })
      .Case([&](NegOp) {
        return mapNumbers(
            x, [](double v) { return -v; },
            [](int64_t v) { return sub(0, v); });
      })
      .Case([&](SignOp) {
        return mapNumbers(x, signOf,
                          [](int64_t v) { return int64_t(v > 0) - (v < 0); });
      })
      .Case([&](NotOp) {
        bool isBool = x.getDType() == DType::Bool;
        return mapInts(x, [&](int64_t v) { return isBool ? !v : ~v; });
      })
      .Case([&](ReluOp) {
        return mapNumbers(
            x, [](double v) { return v > 0 || std::isnan(v) ? v : 0.0; },
            [](int64_t v) { return maximum(v, int64_t(0)); });
      })
      .Case([&](GeluOp op) {
        bool isTanh = op.getApproximate() == Approximation::tanh;
        return mapFloats(x, isTanh ? geluTanh : gelu);
      })
      .Case([&](EluOp op) {
        double alpha = op.getAlpha().convertToDouble();
        return mapFloats(
            x, [&](double v) { return v > 0 ? v : alpha * std::expm1(v); });
      })
      .Case([&](LeakyReluOp op) {
        double slope = op.getSlope().convertToDouble();
        return mapFloats(x, [&](double v) { return v > 0 ? v : slope * v; });
      })
      .Case([&](IsNanOp) {
        return test(x, [](double v) { return std::isnan(v); });
      })
      .Case([&](IsInfOp) {
        return test(x, [](double v) { return std::isinf(v); });
      })
      .Case([&](IsFiniteOp) {
        return test(x, [](double v) { return std::isfinite(v); });
      })
      .Case([&](ConvertOp) { return convert(x, getResultDType(op)); })
      .Default(Value());
}

/// The function of an op on one float operand without attributes, or null.
static double (*getFloatUnary(Operation *op))(double) {
  using F = double (*)(double);
  return llvm::TypeSwitch<Operation *, F>(op)
      .Case<ExpOp>([](auto) { return F(std::exp); })
      .Case<Exp2Op>([](auto) { return F(std::exp2); })
      .Case<Expm1Op>([](auto) { return F(std::expm1); })
      .Case<LogOp>([](auto) { return F(std::log); })
      .Case<Log2Op>([](auto) { return F(std::log2); })
      .Case<Log10Op>([](auto) { return F(std::log10); })
      .Case<Log1pOp>([](auto) { return F(std::log1p); })
      .Case<SqrtOp>([](auto) { return F(std::sqrt); })
      .Case<RsqrtOp>(
          [](auto) { return F([](double v) { return 1 / std::sqrt(v); }); })
      .Case<CbrtOp>([](auto) { return F(std::cbrt); })
      .Case<ReciprocalOp>(
          [](auto) { return F([](double v) { return 1 / v; }); })
      .Case<SinOp>([](auto) { return F(std::sin); })
      .Case<CosOp>([](auto) { return F(std::cos); })
      .Case<TanOp>([](auto) { return F(std::tan); })
      .Case<AsinOp>([](auto) { return F(std::asin); })
      .Case<AcosOp>([](auto) { return F(std::acos); })
      .Case<AtanOp>([](auto) { return F(std::atan); })
      .Case<SinhOp>([](auto) { return F(std::sinh); })
      .Case<CoshOp>([](auto) { return F(std::cosh); })
      .Case<TanhOp>([](auto) { return F(std::tanh); })
      .Case<AsinhOp>([](auto) { return F(std::asinh); })
      .Case<AcoshOp>([](auto) { return F(std::acosh); })
      .Case<AtanhOp>([](auto) { return F(std::atanh); })
      .Case<ErfOp>([](auto) { return F(std::erf); })
      .Case<ErfcOp>([](auto) { return F(std::erfc); })
      .Case<FloorOp>([](auto) { return F(std::floor); })
      .Case<CeilOp>([](auto) { return F(std::ceil); })
      // Ties to even in the default rounding mode.
      .Case<RoundOp>([](auto) { return F(std::nearbyint); })
      .Case<TruncOp>([](auto) { return F(std::trunc); })
      .Case<SigmoidOp>([](auto) { return F(sigmoid); })
      .Case<SoftplusOp>([](auto) { return F(softplus); })
      .Case<SiluOp>(
          [](auto) { return F([](double v) { return v * sigmoid(v); }); })
      .Case<MishOp>([](auto) {
        return F(
            [](double v) { return v * std::tanh(std::log1p(std::exp(v))); });
      })
      .Case<HardSigmoidOp>([](auto) {
        return F([](double v) { return clamp(v + 3, 0, 6) / 6; });
      })
      .Case<HardSwishOp>([](auto) {
        return F([](double v) { return v * clamp(v + 3, 0, 6) / 6; });
      })
      .Default(F(nullptr));
}

/// Ops that divide and round down are computed in the precision of the op:
/// f64 in double, the others in float.
template <typename Double, typename Single>
static auto inOwnPrecision(DType dtype, Double ofDouble, Single ofSingle) {
  return [=](double a, double b) -> double {
    if (dtype == DType::F64)
      return ofDouble(a, b);
    return ofSingle(static_cast<float>(a), static_cast<float>(b));
  };
}

static std::optional<Tensor> evaluateBinary(Operation *op, const Tensor &a,
                                            const Tensor &b) {
  using Value = std::optional<Tensor>;
  using F = double (*)(double, double);
  using I = int64_t (*)(int64_t, int64_t);
  DType dtype = a.getDType();
  int64_t width = 8 * getByteSize(dtype);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](AddOp) { return mapNumbers(a, b, F(add), I(add)); })
      .Case([&](SubOp) { return mapNumbers(a, b, F(sub), I(sub)); })
      .Case([&](MulOp) { return mapNumbers(a, b, F(mul), I(mul)); })
      .Case([&](DivOp) {
        return mapNumbers(
            a, b, [](double x, double y) { return x / y; }, divide);
      })
      .Case([&](FloorDivOp) {
        return mapNumbers(
            a, b,
            inOwnPrecision(dtype, floorDivide<double>, floorDivide<float>),
            I(floorDivide));
      })
      .Case([&](RemainderOp) {
        return mapNumbers(a, b,
                          inOwnPrecision(dtype, floorRemainder<double>,
                                         floorRemainder<float>),
                          I(floorRemainder));
      })
      .Case([&](FmodOp) {
        return mapNumbers(a, b, F(std::fmod), truncRemainder);
      })
      .Case([&](PowOp) { return mapNumbers(a, b, F(std::pow), power); })
      .Case([&](MinOp) { return mapNumbers(a, b, F(minimum), I(minimum)); })
      .Case([&](MaxOp) { return mapNumbers(a, b, F(maximum), I(maximum)); })
      .Case([&](Atan2Op) { return mapFloats(a, b, F(std::atan2)); })
      .Case([&](CopysignOp) { return mapFloats(a, b, F(std::copysign)); })
      .Case([&](HypotOp) { return mapFloats(a, b, F(std::hypot)); })
      .Case([&](AndOp) {
        return mapInts(a, b, [](int64_t x, int64_t y) { return x & y; });
      })
      .Case([&](OrOp) {
        return mapInts(a, b, [](int64_t x, int64_t y) { return x | y; });
      })
      .Case([&](XorOp) {
        return mapInts(a, b, [](int64_t x, int64_t y) { return x ^ y; });
      })
      .Case([&](ShiftLeftOp) {
        return mapInts(
            a, b, [&](int64_t x, int64_t y) { return shiftLeft(x, y, width); });
      })
      .Case([&](ShiftRightOp) {
        return mapInts(a, b, [&](int64_t x, int64_t y) {
          return shiftRight(x, y, width);
        });
      })
      .Default(Value());
}

static Tensor evaluateCompare(CompareOp op, const Tensor &a, const Tensor &b) {
  Tensor result(DType::Bool, a.getSizes());
  dispatch(a.getDType(), [&](auto zero) {
    using T = decltype(zero);
    for (auto [out, x, y] :
         llvm::zip_equal(result.ints(), a.get<T>(), b.get<T>()))
      out = compare(op.getKind(), x, y);
  });
  return result;
}

static Tensor evaluateSelect(const Tensor &condition, const Tensor &onTrue,
                             const Tensor &onFalse) {
  Tensor result(onTrue.getDType(), onTrue.getSizes());
  dispatch(onTrue.getDType(), [&](auto zero) {
    using T = decltype(zero);
    for (auto [out, c, x, y] :
         llvm::zip_equal(result.get<T>(), condition.ints(), onTrue.get<T>(),
                         onFalse.get<T>()))
      out = c ? x : y;
  });
  return result;
}

static Tensor evaluateClamp(const Tensor &x, const Tensor &lo,
                            const Tensor &hi) {
  Tensor result(x.getDType(), x.getSizes());
  dispatch(x.getDType(), [&](auto zero) {
    using T = decltype(zero);
    for (auto [out, v, l, h] :
         llvm::zip_equal(result.get<T>(), x.get<T>(), lo.get<T>(), hi.get<T>()))
      out = minimum(maximum(v, l), h);
  });
  return result;
}

Result interpreter::evaluateElementwise(Operation *op, Operands operands) {
  for (const Tensor *operand : operands)
    if (operand->getSizes() != operands[0]->getSizes())
      return op->emitOpError()
             << "has operands of shapes "
             << formatSizes(operands[0]->getSizes()) << " and "
             << formatSizes(operand->getSizes())
             << "; elementwise ops need equal shapes, broadcast one of them";
  if (operands.size() == 1) {
    if (auto *function = getFloatUnary(op))
      return mapFloats(*operands[0], FloatUnary(function));
    if (std::optional<Tensor> result = evaluateUnary(op, *operands[0]))
      return std::move(*result);
  }
  if (operands.size() == 2) {
    if (auto compare = dyn_cast<CompareOp>(op))
      return evaluateCompare(compare, *operands[0], *operands[1]);
    if (auto result = evaluateBinary(op, *operands[0], *operands[1]))
      return std::move(*result);
  }
  if (isa<SelectOp>(op))
    return evaluateSelect(*operands[0], *operands[1], *operands[2]);
  if (isa<ClampOp>(op))
    return evaluateClamp(*operands[0], *operands[1], *operands[2]);
  return op->emitOpError("has no reference evaluation; only ops of the fusion "
                         "dialect before scheduling have one");
}
