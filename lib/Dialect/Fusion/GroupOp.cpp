//===- GroupOp.cpp - text form and verification of groups -----------------===//
//
// A group's header pairs each block argument with the operand it stands for,
// which the declarative format cannot express.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/FusionDialect.h"

using namespace mlir;
using namespace fusion;

ParseResult GroupOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  if (parser.parseAttribute(name, getNameAttrName(result.name),
                            result.attributes))
    return failure();

  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  SmallVector<Type> inputTypes;
  auto parseInput = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    if (parser.parseArgument(argument) || parser.parseEqual() ||
        parser.parseOperand(inputs.emplace_back()) ||
        parser.parseColonType(argument.type))
      return failure();
    inputTypes.push_back(argument.type);
    return success();
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     parseInput) ||
      parser.resolveOperands(inputs, inputTypes, loc, result.operands) ||
      parser.parseOptionalArrowTypeList(result.types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();

  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void GroupOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getNameAttr() << " (";
  llvm::interleaveComma(llvm::zip_equal(getBody().getArguments(), getInputs()),
                        printer, [&](auto pair) {
                          auto [argument, input] = pair;
                          printer << argument << " = " << input << " : "
                                  << input.getType();
                        });
  printer << ')';
  printer.printOptionalArrowTypeList(getResultTypes());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {getNameAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// Checks that the types of two lists of values are equal one by one.
static LogicalResult verifyEqualTypes(GroupOp op, StringRef leftName,
                                      TypeRange left, StringRef rightName,
                                      TypeRange right) {
  if (left.size() != right.size())
    return op.emitOpError()
           << "expects as many " << leftName << "s as " << rightName
           << "s, got " << left.size() << " and " << right.size();
  for (auto [index, types] : llvm::enumerate(llvm::zip_equal(left, right))) {
    auto [leftType, rightType] = types;
    if (leftType != rightType)
      return op.emitOpError()
             << "expects " << leftName << " " << index
             << " to have the type of " << rightName << " " << index << ", got "
             << leftType << " and " << rightType;
  }
  return success();
}

LogicalResult GroupOp::verify() {
  // C1
  if (failed(verifyEqualTypes(*this, "block argument",
                              getBody().getArgumentTypes(), "operand",
                              getInputs().getTypes())))
    return failure();
  return verifyEqualTypes(*this, "yielded value",
                          getBody().front().getTerminator()->getOperandTypes(),
                          "result", getResultTypes());
}

// The terminator that a group without results gets when none is written.
void YieldOp::build(OpBuilder &, OperationState &) {}
