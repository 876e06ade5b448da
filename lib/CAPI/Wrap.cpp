//===- Wrap.cpp - errors, strings and versions of the C ABI ---------------===//

#include "Wrap.h"
#include <cstdlib>
#include <cstring>

using namespace fusion;

fusion_error *fusion::wrap(runtime::Status status) {
  return status.failed() ? new fusion_error{std::move(status)} : nullptr;
}

char *fusion::copyString(const std::string &text) {
  auto *copy = static_cast<char *>(malloc(text.size() + 1));
  if (copy)
    std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

int fusion_abi_version(void) { return FUSION_ABI_VERSION; }
const char *fusion_version(void) { return FUSION_VERSION; }

const char *fusion_error_kind(const fusion_error *error) {
  return error->status.kind.c_str();
}
const char *fusion_error_message(const fusion_error *error) {
  return error->status.message.c_str();
}
const char *fusion_error_location(const fusion_error *error) {
  return error->status.location.c_str();
}
const char *fusion_error_remedy(const fusion_error *error) {
  return error->status.remedy.c_str();
}
void fusion_error_free(fusion_error *error) { delete error; }
void fusion_string_free(char *text) { free(text); }
