//===- Check.cpp - comparison of results with a reference -----------------===//

#include "Check.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace fusion::tools;
using namespace llvm;

/// True if a tensor of this element type occurs: the type is written after the
/// sizes, "4xf32", or alone, "<f32".
static bool namesType(StringRef graph, StringRef type) {
  for (size_t at = graph.find(type); at != StringRef::npos;
       at = graph.find(type, at + 1)) {
    char before = at ? graph[at - 1] : ' ';
    StringRef after = graph.drop_front(at + type.size());
    bool isWord = !after.empty() && (isAlnum(after[0]) || after[0] == '_');
    if ((before == 'x' || before == '<') && !isWord)
      return true;
  }
  return false;
}

double fusion::tools::getTolerance(StringRef graph) {
  if (namesType(graph, "bf16"))
    return 0x1p-5; // 4 units
  if (namesType(graph, "f16"))
    return 0x1p-8; // 4 units
  if (namesType(graph, "f32"))
    return 0x1p-16; // 128 units
  if (namesType(graph, "f64"))
    return 0x1p-40; // 4096 units
  return 0;
}

/// Over the finite elements.
static double getRootMeanSquare(const HostTensor &tensor) {
  double sum = 0;
  int64_t count = 0;
  for (int64_t i = 0, e = tensor.getNumElements(); i < e; ++i) {
    double value = tensor.getFloat(i);
    if (!std::isfinite(value))
      continue;
    sum += value * value;
    ++count;
  }
  return count ? std::sqrt(sum / count) : 0;
}

Check fusion::tools::compare(const HostTensor &tensor,
                             const HostTensor &reference, double tolerance) {
  Check check;
  bool isFloat = tools::isFloat(reference.getDType());
  double scale = isFloat ? getRootMeanSquare(reference) : 0;
  for (int64_t i = 0, e = reference.getNumElements(); i < e; ++i) {
    bool isRight;
    if (!isFloat) {
      isRight = tensor.getInt(i) == reference.getInt(i);
    } else {
      double value = tensor.getFloat(i), expected = reference.getFloat(i);
      if (std::isfinite(value) && std::isfinite(expected)) {
        double difference = std::fabs(value - expected);
        double error =
            difference == 0 ? 0 : difference / (std::fabs(expected) + scale);
        check.maxError = std::max(check.maxError, error);
        isRight = error <= tolerance;
      } else {
        isRight =
            value == expected || (std::isnan(value) && std::isnan(expected));
      }
    }
    if (isRight)
      continue;
    if (check.numWrong++ == 0)
      check.firstWrong = i;
  }
  return check;
}
