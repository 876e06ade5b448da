//===- TileDialect.h - the tile dialect in C++ ----------------------------===//

#ifndef FUSION_DIALECT_TILE_TILEDIALECT_H
#define FUSION_DIALECT_TILE_TILEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "fusion/Dialect/Tile/TileDialect.h.inc"
#include "fusion/Dialect/Tile/TileEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "fusion/Dialect/Tile/TileAttrs.h.inc"

namespace fusion::tile {

/// Attributes of a kernel's arguments.
inline constexpr llvm::StringLiteral accessAttrName = "tile.access";
inline constexpr llvm::StringLiteral alignAttrName = "tile.align";
inline constexpr llvm::StringLiteral divisorAttrName = "tile.divisor";

/// The most threads that a block may have on any target.
inline constexpr int64_t maxThreads = 1024;
/// Threads of a warp, which load and multiply matrices together.
inline constexpr int64_t warpSize = 32;

/// The type of an element of a buffer that holds `elementType`: bool takes a
/// byte and integers lose their sign.
mlir::Type getBufferElementType(mlir::Type elementType);

} // namespace fusion::tile

#define GET_OP_CLASSES
#include "fusion/Dialect/Tile/TileOps.h.inc"

#endif // FUSION_DIALECT_TILE_TILEDIALECT_H
