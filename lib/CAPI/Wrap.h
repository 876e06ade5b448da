//===- Wrap.h - the objects behind the C ABI ------------------------------===//

#ifndef FUSION_LIB_CAPI_WRAP_H
#define FUSION_LIB_CAPI_WRAP_H

#include "fusion/Runtime/Executable.h"
#include <string>

struct fusion_error {
  fusion::runtime::Status status;
};

struct fusion_executable {
  std::unique_ptr<fusion::runtime::Executable> executable;
};

namespace fusion {

/// Null for success, else an error that the caller frees.
fusion_error *wrap(runtime::Status status);

/// A copy, ended by a zero, that fusion_string_free frees.
char *copyString(const std::string &text);

} // namespace fusion

#endif // FUSION_LIB_CAPI_WRAP_H
