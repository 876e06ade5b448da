//===- fusion-lsp-server.cpp - the dialects in an editor ------------------===//
//
// A language server for .mlir files: diagnostics, definitions, uses and hover
// texts for graphs and kernels. Editors start it in place of mlir-lsp-server.
//
//===----------------------------------------------------------------------===//

#include "common/Dialects.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  fusion::tools::registerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
