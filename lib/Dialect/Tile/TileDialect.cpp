//===- TileDialect.cpp - kernels, launches and their verifiers ------------===//
//
// The syntax of a kernel is that of a function; what is particular is checked
// here: the order of arguments, the grid, and that a launch fits its callee.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/TileDialect.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fusion::tile;

#include "fusion/Dialect/Tile/TileDialect.cpp.inc"
#include "fusion/Dialect/Tile/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "fusion/Dialect/Tile/TileAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "fusion/Dialect/Tile/TileOps.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fusion/Dialect/Tile/TileAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "fusion/Dialect/Tile/TileOps.cpp.inc"
      >();
}

Type fusion::tile::getBufferElementType(Type elementType) {
  auto integer = dyn_cast<IntegerType>(elementType);
  if (!integer)
    return elementType;
  return IntegerType::get(elementType.getContext(),
                          std::max(8u, integer.getWidth()));
}

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType =
      [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
         function_interface_impl::VariadicFlag, std::string &) -> Type {
    return builder.getFunctionType(inputs, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

unsigned KernelOp::getNumBuffers() {
  return llvm::count_if(getArgumentTypes(), llvm::IsaPred<BaseMemRefType>);
}

LogicalResult KernelOp::verify() {
  unsigned numBuffers = getNumBuffers();
  for (auto [index, type] : llvm::enumerate(getArgumentTypes())) {
    if (index >= numBuffers) { // (C1)
      if (!type.isIndex())
        return emitOpError("argument #")
               << index << " must be a size of type index, as it follows the "
               << numBuffers << " buffers, but is " << type
               << "; buffers precede sizes";
      continue;
    }
    auto buffer = dyn_cast<MemRefType>(type);
    if (!buffer || buffer.getRank() != 1 || !buffer.isDynamicDim(0) ||
        !buffer.getLayout().isIdentity() || buffer.getMemorySpace())
      return emitOpError("argument #")
             << index << " must be a flat buffer memref<?xT>, but is " << type;
  }

  unsigned numSizes = getNumArguments() - numBuffers;
  AffineMap grid = getGrid();
  if (grid.getNumDims() != 0 || grid.getNumResults() != 1) // (C2)
    return emitOpError("grid must be one expression of symbols, but is ")
           << getGridAttr();
  if (grid.getNumSymbols() != numSizes) // (C2)
    return emitOpError("grid must have a symbol for each of the ")
           << numSizes << " sizes, but has " << grid.getNumSymbols();

  auto threads = static_cast<int64_t>(getThreads());
  if (threads < 1 || threads > maxThreads) // (C3)
    return emitOpError("threads must be from 1 to ")
           << maxThreads << ", but is " << threads;
  if (getIndexBits() != 32 && getIndexBits() != 64) // (C3)
    return emitOpError("index_bits must be 32 or 64, but is ")
           << getIndexBits();

  if (!getResultTypes().empty()) // (C4)
    return emitOpError("must have no results: a kernel writes to buffers");
  if (getBody().empty())
    return emitOpError("must have a body");
  return success();
}

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

/// Checks that `tensor`, operand or result `index` of the launch, can live in
/// the kernel's buffer of that number (C1).
static LogicalResult verifyBuffer(LaunchOp launch, KernelOp kernel,
                                  unsigned index, Type tensor) {
  Type stored =
      getBufferElementType(cast<RankedTensorType>(tensor).getElementType());
  Type buffer =
      cast<MemRefType>(kernel.getArgumentTypes()[index]).getElementType();
  if (stored == buffer)
    return success();
  InFlightDiagnostic error = launch.emitOpError("buffer #")
                             << index << " holds " << buffer
                             << " in the kernel, but " << tensor
                             << " is stored as " << stored;
  error.attachNote(kernel.getLoc()) << "see the kernel's arguments";
  return error;
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto kernel =
      symbolTable.lookupNearestSymbolFrom<KernelOp>(*this, getCalleeAttr());
  if (!kernel) // (C1)
    return emitOpError("callee ")
           << getCalleeAttr() << " must be a tile.kernel of this module";

  unsigned numTensors = getInputs().size() + getOutputs().size();
  if (numTensors != kernel.getNumBuffers()) { // (C1)
    InFlightDiagnostic error =
        emitOpError("must have one operand or result for each of the ")
        << kernel.getNumBuffers() << " buffers of the kernel, but has "
        << numTensors;
    error.attachNote(kernel.getLoc()) << "see the kernel's arguments";
    return error;
  }
  for (auto [index, tensor] : llvm::enumerate(
           llvm::concat<const Type>(llvm::to_vector(getInputs().getTypes()),
                                    llvm::to_vector(getOutputs().getTypes()))))
    if (failed(verifyBuffer(*this, kernel, index, tensor)))
      return failure();

  unsigned numSizes = kernel.getNumArguments() - kernel.getNumBuffers();
  if (getSizes().getNumDims() != 0 ||
      getSizes().getNumResults() != numSizes) // (C2)
    return emitOpError("sizes must have no dims and one result for each of "
                       "the kernel's ")
           << numSizes << " sizes, but is " << getSizesAttr();
  return success();
}

//===----------------------------------------------------------------------===//
// SharedOp
//===----------------------------------------------------------------------===//

LogicalResult SharedOp::verify() {
  auto type = dyn_cast<MemRefType>(getBuffer().getType());
  if (!type || !type.hasStaticShape() || !type.getLayout().isIdentity() ||
      !gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type)) // (C1)
    return emitOpError("must have a static memref type in "
                       "#gpu.address_space<workgroup>, but has ")
           << getBuffer().getType();
  auto kernel = dyn_cast_or_null<KernelOp>((*this)->getParentOp());
  if (!kernel || (*this)->getBlock() != &kernel.getBody().front()) // (C2)
    return emitOpError("must stand in the entry block of a tile.kernel, so "
                       "that the buffer lives as long as the block");
  return success();
}

//===----------------------------------------------------------------------===//
// ReduceOp
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  auto width = static_cast<int64_t>(getWidth());
  if (width < 1 || !llvm::isPowerOf2_64(width)) // (C1)
    return emitOpError("width must be a power of two, but is ") << width;
  if (auto kernel = (*this)->getParentOfType<KernelOp>();
      kernel && kernel.getThreads() % width != 0) // (C1)
    return emitOpError("width must divide the kernel's ")
           << kernel.getThreads() << " threads, but is " << width;

  SmallVector<Type> arguments(getInputs().getTypes());
  llvm::append_range(arguments, getInputs().getTypes());
  Block &body = getCombiner().front();
  if (!llvm::equal(body.getArgumentTypes(), arguments)) // (C2)
    return emitOpError("region must take each input's type twice: ")
           << arguments << ", but takes "
           << llvm::to_vector(body.getArgumentTypes());
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || !llvm::equal(yield.getValues().getTypes(),
                             getInputs().getTypes())) // (C2)
    return emitOpError("region must yield each input's type once: ")
           << llvm::to_vector(getInputs().getTypes());
  return success();
}
