//===- VerifyUtils.cpp - shared by the verifiers of the dialect -----------===//
//
// Comparison and printing of shapes for verifiers; see the header.
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace fusion;

bool fusion::mayEqual(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return a.size() == b.size() &&
         llvm::all_of(llvm::zip_equal(a, b), [](auto sizes) {
           return mayEqual(std::get<0>(sizes), std::get<1>(sizes));
         });
}

bool fusion::isPermutation(ArrayRef<int64_t> values, size_t rank) {
  if (values.size() != rank)
    return false;
  llvm::BitVector seen(rank);
  for (int64_t value : values) {
    if (value < 0 || value >= static_cast<int64_t>(rank) || seen[value])
      return false;
    seen.set(value);
  }
  return true;
}

std::string fusion::formatList(ArrayRef<int64_t> values) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "[";
  llvm::interleaveComma(values, stream);
  stream << "]";
  return text;
}

std::string fusion::formatShape(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "[";
  llvm::interleaveComma(shape, stream, [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      stream << "?";
    else
      stream << size;
  });
  stream << "]";
  return text;
}

LogicalResult fusion::verifyResultShape(Operation *op,
                                        ArrayRef<int64_t> expected,
                                        StringRef rule) {
  auto type = cast<ShapedType>(op->getResult(0).getType());
  if (mayEqual(type.getShape(), expected))
    return success();
  return op->emitOpError() << "expects a result of shape "
                           << formatShape(expected) << " (" << rule << "), got "
                           << formatShape(type);
}

LogicalResult fusion::verifyDim(Operation *op, int64_t dim, int64_t rank) {
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError() << "expects 'dim' to be at least 0 and below the "
                              "rank "
                           << rank << ", got " << dim;
}
