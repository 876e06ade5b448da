//===- FusionInterfaces.td - what makes fusion generic --------------------===//
//
// A new elementwise or view op implements these interfaces and then fuses
// everywhere: group formation, every schedule and the cost model see ops only
// through them.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_INTERFACES_TD
#define FUSION_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Fusion_DimsInterface : OpInterface<"DimsInterface"> {
  let cppNamespace = "::fusion";
  let description = [{
    Sizes of results in terms of the sizes of operands, as affine expressions
    over the symbols of the enclosing function.
  }];
  let methods = [
    InterfaceMethod<[{
      The sizes of result `result`, given those of the operands. A size that
      the result type states is a constant whatever this returns; a null
      expression means a size that only the type's symbol names.
    }], "::llvm::SmallVector<::mlir::AffineExpr>", "inferDims",
    (ins "unsigned":$result,
         "::llvm::ArrayRef<::llvm::SmallVector<::mlir::AffineExpr>>":$operands)>
  ];
}

def Fusion_IndexMapInterface : OpInterface<"IndexMapInterface"> {
  let cppNamespace = "::fusion";
  let description = [{
    Which operand elements a result element reads. An elementwise op reads every
    operand at the result's own index (the default); a view op reads one element
    of the first operand whose guard holds.
  }];
  let methods = [
    InterfaceMethod<[{
      True if the result element is the element read (a view), false if it is
      computed from all of the elements read through `ElementInterface`.
    }], "bool", "isView", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      The accesses that produce one result element. Dims of the returned
      expressions are the result's indices, symbols those of the enclosing
      function; `operands` and `result` give the sizes in the same symbols.
      For a view the accesses are tried in order, and the last has no guard.
    }], "::llvm::SmallVector<::fusion::OperandAccess>", "getAccesses",
    (ins "::llvm::ArrayRef<::llvm::SmallVector<::mlir::AffineExpr>>":$operands,
         "::llvm::ArrayRef<::mlir::AffineExpr>":$result), [{}], [{
      return ::fusion::identityAccesses($_op);
    }]>
  ];
}

def Fusion_ElementInterface : OpInterface<"ElementInterface"> {
  let cppNamespace = "::fusion";
  let description = [{
    An op whose result element is a function of scalars. The same code serves
    scalars and vectors: `arith` and `math` ops apply to both.
  }];
  let methods = [
    InterfaceMethod<[{
      Emits the op on `operands`, scalars or vectors of the storage types of the
      operands' element types (`ui8` is stored as `i8`), all of one shape.
      Returns a value of the storage type of the result's element type.
    }], "::mlir::Value", "emitElement",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
         "::mlir::ValueRange":$operands)>,
    InterfaceMethod<[{
      Cost of one element in units of a float multiply-add: about 1 for
      arithmetic, 10 to 40 for transcendental functions.
    }], "unsigned", "getElementCost", (ins), [{}], [{ return 1; }]>
  ];
}

#endif // FUSION_INTERFACES_TD
