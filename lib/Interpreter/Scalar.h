//===- Scalar.h - the dialect's arithmetic on one element -----------------===//
//
// Operations whose corner cases the dialect defines otherwise than C++ does.
// Integers are computed modulo 2^64 and wrapped to their type by the caller.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_INTERPRETER_SCALAR_H
#define FUSION_LIB_INTERPRETER_SCALAR_H

#include <cmath>
#include <cstdint>

namespace fusion::interpreter {

inline double add(double a, double b) { return a + b; }
inline double sub(double a, double b) { return a - b; }
inline double mul(double a, double b) { return a * b; }
// Unsigned arithmetic wraps where signed overflow would be undefined.
inline int64_t add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + b);
}
inline int64_t sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - b);
}
inline int64_t mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * b);
}

/// IEEE 754-2019 minimum: NaN wins, and -0.0 is less than 0.0.
inline double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
/// IEEE 754-2019 maximum.
inline double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
inline int64_t minimum(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t maximum(int64_t a, int64_t b) { return a > b ? a : b; }

//===----------------------------------------------------------------------===//
// Division. `Float` is the type in which the op is computed: the results of
// floor_div differ between float and double (1 // (1 / 3) is 2 and 3).
//===----------------------------------------------------------------------===//

/// The remainder with the sign of the divisor, as Python's `%`.
template <typename Float> Float floorRemainder(Float a, Float b) {
  Float remainder = std::fmod(a, b);
  if (remainder == 0)
    return std::copysign(remainder, b);
  return (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

/// CPython's float floor division. Rounding `a / b` down would be off by one
/// where the quotient rounds up to an integer; `a - remainder` is a multiple of
/// `b` but for its rounding, so its quotient is within 1/2 of the right
/// integer.
template <typename Float> Float floorDivide(Float a, Float b) {
  if (b == 0)
    return a / b;
  Float remainder = std::fmod(a, b);
  Float quotient = (a - remainder) / b;
  if (remainder != 0 && (remainder < 0) != (b < 0))
    quotient -= 1;
  if (quotient == 0)
    return std::copysign(Float(0), a / b);
  Float floor = std::floor(quotient);
  return quotient - floor > Float(0.5) ? floor + 1 : floor;
}

/// Truncating division: 0 for a zero divisor, and the most negative integer by
/// -1 is itself.
inline int64_t divide(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  return b == -1 ? sub(0, a) : a / b;
}
inline int64_t truncRemainder(int64_t a, int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}
inline int64_t floorRemainder(int64_t a, int64_t b) {
  int64_t remainder = truncRemainder(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b
                                                      : remainder;
}
inline int64_t floorDivide(int64_t a, int64_t b) {
  int64_t remainder = truncRemainder(a, b);
  bool roundedUp = remainder != 0 && (remainder < 0) != (b < 0);
  return sub(divide(a, b), roundedUp);
}

/// Power modulo 2^64. A negative exponent gives the truncated reciprocal of the
/// power: 0, also for a zero base, unless the base is 1 or -1.
inline int64_t power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1)
      return 1;
    if (base == -1)
      return exponent % 2 ? -1 : 1;
    return 0;
  }
  int64_t result = 1;
  for (; exponent; exponent >>= 1, base = mul(base, base))
    if (exponent & 1)
      result = mul(result, base);
  return result;
}

/// Shifts by a count outside of `[0, width)` push every bit out.
inline int64_t shiftLeft(int64_t a, int64_t count, int64_t width) {
  if (count < 0 || count >= width)
    return 0;
  return static_cast<int64_t>(static_cast<uint64_t>(a) << count);
}
inline int64_t shiftRight(int64_t a, int64_t count, int64_t width) {
  if (count < 0 || count >= width)
    return a < 0 ? -1 : 0;
  return a >> count;
}

} // namespace fusion::interpreter

#endif // FUSION_LIB_INTERPRETER_SCALAR_H
