//===- errors.h - failures of the C ABI as Python exceptions --------------===//

#ifndef FUSION_PYTHON_ERRORS_H
#define FUSION_PYTHON_ERRORS_H

#include "fusion-c/fusion.h"
#include <exception>
#include <string>

/// Becomes `_fusion.Error(kind, message, location, remedy)`.
struct FusionError : std::exception {
  FusionError(std::string kind, std::string message, std::string remedy = "",
              std::string location = "")
      : kind(std::move(kind)), message(std::move(message)),
        location(std::move(location)), remedy(std::move(remedy)) {}
  const char *what() const noexcept override { return message.c_str(); }

  std::string kind, message, location, remedy;
};

/// Throws an error of the C ABI, which it frees; null is success.
inline void check(fusion_error *error) {
  if (!error)
    return;
  FusionError exception(fusion_error_kind(error), fusion_error_message(error),
                        fusion_error_remedy(error),
                        fusion_error_location(error));
  fusion_error_free(error);
  throw exception;
}

#endif // FUSION_PYTHON_ERRORS_H
