//===- Plan.cpp - element types and size expressions ----------------------===//

#include "fusion/Runtime/Plan.h"
#include <limits>

using namespace fusion::runtime;

using Op = SizeExpr::Op;
static constexpr int64_t maximum = std::numeric_limits<int64_t>::max();
static constexpr int64_t minimum = std::numeric_limits<int64_t>::min();

int64_t fusion::runtime::getSize(DType type) {
  switch (type) {
  case DType::F64:
  case DType::I64:
    return 8;
  case DType::F32:
  case DType::I32:
    return 4;
  case DType::F16:
  case DType::BF16:
  case DType::I16:
    return 2;
  case DType::I8:
  case DType::U8:
  case DType::Bool:
    return 1;
  }
  return 1;
}

const char *fusion::runtime::getName(DType type) {
  static const char *const names[] = {"f64", "f32", "f16", "bf16", "i8",
                                      "i16", "i32", "i64", "ui8",  "i1"};
  return names[static_cast<int>(type)];
}

static int64_t add(int64_t lhs, int64_t rhs) {
  int64_t result;
  if (__builtin_add_overflow(lhs, rhs, &result))
    return lhs < 0 ? minimum : maximum;
  return result;
}

static int64_t multiply(int64_t lhs, int64_t rhs) {
  int64_t result;
  if (__builtin_mul_overflow(lhs, rhs, &result))
    return (lhs < 0) == (rhs < 0) ? maximum : minimum;
  return result;
}

/// `lhs / rhs` rounded down or, with `up`, up.
static int64_t divide(int64_t lhs, int64_t rhs, bool up) {
  if (rhs == 0)
    return 0;
  if (rhs == -1)
    return multiply(lhs, -1);
  int64_t quotient = lhs / rhs;
  bool exact = lhs % rhs == 0, positive = (lhs < 0) == (rhs < 0);
  if (up)
    return quotient + (!exact && positive);
  return quotient - (!exact && !positive);
}

static int64_t modulo(int64_t lhs, int64_t rhs) {
  if (rhs == 0 || rhs == -1)
    return 0;
  int64_t rest = lhs % rhs;
  if (rest >= 0)
    return rest;
  return rhs < 0 ? rest - rhs : rest + rhs;
}

static int64_t apply(Op op, int64_t lhs, int64_t rhs) {
  switch (op) {
  case Op::Add:
    return add(lhs, rhs);
  case Op::Mul:
    return multiply(lhs, rhs);
  case Op::FloorDiv:
    return divide(lhs, rhs, /*up=*/false);
  case Op::CeilDiv:
    return divide(lhs, rhs, /*up=*/true);
  case Op::Mod:
    return modulo(lhs, rhs);
  case Op::Constant:
  case Op::Symbol:
    break;
  }
  return 0;
}

int64_t SizeExpr::evaluate(const std::vector<int64_t> &symbols) const {
  // The stack never holds more than the items; most expressions are short.
  int64_t small[16];
  std::vector<int64_t> large;
  int64_t *stack = small;
  if (items.size() > 16) {
    large.resize(items.size());
    stack = large.data();
  }
  size_t depth = 0;
  for (const Item &item : items) {
    if (item.op == Op::Constant) {
      stack[depth++] = item.value;
    } else if (item.op == Op::Symbol) {
      size_t number = static_cast<size_t>(item.value);
      stack[depth++] = number < symbols.size() ? symbols[number] : 0;
    } else {
      if (depth < 2)
        return 0;
      --depth;
      stack[depth - 1] = apply(item.op, stack[depth - 1], stack[depth]);
    }
  }
  return depth ? stack[depth - 1] : 0;
}

bool SizeExpr::isValid(size_t numSymbols) const {
  size_t depth = 0;
  for (const Item &item : items) {
    if (item.op > Op::Mod)
      return false;
    if (item.op == Op::Constant || item.op == Op::Symbol) {
      if (item.op == Op::Symbol &&
          (item.value < 0 || static_cast<uint64_t>(item.value) >= numSymbols))
        return false;
      ++depth;
    } else if (depth-- < 2) {
      return false;
    }
  }
  return depth == 1;
}
