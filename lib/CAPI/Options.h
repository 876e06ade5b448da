//===- Options.h - compile options from JSON ------------------------------===//

#ifndef FUSION_LIB_CAPI_OPTIONS_H
#define FUSION_LIB_CAPI_OPTIONS_H

#include "fusion/Compiler/Compiler.h"

namespace fusion {

/// Reads the JSON object of fusion_compile; "" or null text is the defaults.
/// The target "cuda" becomes the architecture of the current device. Unknown
/// keys and values are errors that name the known ones.
runtime::Status parseOptions(const char *json, CompileOptions &options);

} // namespace fusion

#endif // FUSION_LIB_CAPI_OPTIONS_H
