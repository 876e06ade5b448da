//===- LayoutAttr.cpp - text form and verification of layouts -------------===//
//
// A layout prints the parts it has and no others, so that the common ones stay
// short. It is checked as the encoding of a tensor type, where the rank is
// known, rather than on its own.
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace fusion;

/// Parses `[integer, ...]` after the keyword of a part.
static ParseResult parseIntegers(AsmParser &parser,
                                 SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(values.emplace_back());
  });
}

/// Parses `["name", ...]` after the keyword of a part.
static ParseResult parseNames(AsmParser &parser,
                              SmallVectorImpl<StringAttr> &names) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    std::string name;
    if (failed(parser.parseString(&name)))
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  });
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> order, strides;
  SmallVector<StringAttr> symbols;
  llvm::StringSet<> seen;
  auto parsePart = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef keyword;
    if (failed(parser.parseKeyword(&keyword)) || failed(parser.parseEqual()))
      return failure();
    if (!seen.insert(keyword).second)
      return parser.emitError(loc) << "'" << keyword << "' is given twice";
    if (keyword == "order")
      return parseIntegers(parser, order);
    if (keyword == "strides")
      return parseIntegers(parser, strides);
    if (keyword == "symbols")
      return parseNames(parser, symbols);
    return parser.emitError(loc)
           << "expects 'order', 'strides' or 'symbols', got '" << keyword
           << "'";
  };
  if (failed(parser.parseLess()) ||
      failed(parser.parseCommaSeparatedList(parsePart)) ||
      failed(parser.parseGreater()))
    return {};
  return LayoutAttr::get(parser.getContext(), order, strides, symbols);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  llvm::ListSeparator separator;
  auto printPart = [&](StringRef keyword, auto values) {
    if (values.empty())
      return;
    printer << StringRef(separator) << keyword << " = [";
    llvm::interleaveComma(values, printer);
    printer << "]";
  };
  printer << "<";
  printPart("order", getOrder());
  printPart("strides", getStrides());
  printPart("symbols", getSymbols());
  printer << ">";
}

LogicalResult
LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                           function_ref<InFlightDiagnostic()> emitError) const {
  // C1
  if (!getOrder().empty() && !isPermutation(getOrder(), shape.size()))
    return emitError() << "expects 'order' to be a permutation of the "
                       << shape.size() << " dimensions, got "
                       << formatList(getOrder());
  // C2
  if (!getStrides().empty() && getStrides().size() != shape.size())
    return emitError() << "expects one entry in 'strides' for each of the "
                       << shape.size() << " dimensions, got "
                       << formatList(getStrides());
  for (int64_t stride : getStrides())
    if (stride < -1)
      return emitError() << "expects strides of at least 0, or -1 for one "
                            "known at run time only, got "
                         << formatList(getStrides());
  // C3
  if (!getSymbols().empty() && getSymbols().size() != shape.size())
    return emitError() << "expects one entry in 'symbols' for each of the "
                       << shape.size() << " dimensions, got "
                       << getSymbols().size()
                       << "; write \"\" for a dimension without a name";
  // C4
  if (!getOrder().empty() && !getStrides().empty())
    return emitError() << "expects either 'order' or 'strides', got both; "
                          "strides already give the order";
  return success();
}
