//===- Options.cpp - compile options from JSON ----------------------------===//

#include "Options.h"
#include "fusion/Runtime/Driver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace fusion;
using namespace llvm;
using runtime::Status;

static Status optionError(const Twine &message, StringRef remedy) {
  return Status::error("argument", message.str(), remedy.str());
}

/// "sm_90", with "a" where the architecture has features of its own (9.0 and
/// up) and "f" where it has family features (10.0 and up).
static bool isArch(StringRef name) {
  if (!name.consume_front("sm_"))
    return false;
  bool specific = name.consume_back("a");
  bool family = !specific && name.consume_back("f");
  unsigned number;
  if (name.getAsInteger(10, number) ||
      !is_contained({80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121},
                    number))
    return false;
  return (!specific || number >= 90) && (!family || number >= 100);
}

static Status setTarget(StringRef name, CompileOptions &options) {
  options.target = name.str();
  if (name == "cpu" || name == "emulator" || isArch(name))
    return Status::success();
  if (name != "cuda")
    return Status::error("unsupported", "unknown target '" + name.str() + "'",
                         "use \"cpu\", \"emulator\", \"cuda\" or an "
                         "architecture from \"sm_80\" to \"sm_121\"");
  Status status;
  const runtime::Driver *driver = runtime::Driver::get(status);
  return driver ? driver->getCurrentArch(options.target) : status;
}

static Status setDisabled(const json::Value &value, CompileOptions &options) {
  const json::Array *names = value.getAsArray();
  if (!names)
    return optionError("option \"disable\" must be a list of names",
                       "list the rewrites not to run");
  for (const json::Value &name : *names) {
    std::optional<StringRef> text = name.getAsString();
    if (!text)
      return optionError("option \"disable\" holds " +
                             formatv("{0}", name).str() + ", which is no name",
                         "list the rewrites not to run");
    options.disable.push_back(text->str());
  }
  return Status::success();
}

static Status setOption(StringRef key, const json::Value &value,
                        CompileOptions &options) {
  std::optional<StringRef> text = value.getAsString();
  if (key == "target")
    return text ? setTarget(*text, options)
                : optionError("option \"target\" must be a string",
                              "such as \"cpu\" or \"sm_90a\"");
  if (key == "numerics") {
    if (!text || (*text != "strict" && *text != "fast"))
      return optionError("option \"numerics\" must be \"strict\" or \"fast\"",
                         "leave it out for \"strict\"");
    options.numerics = text->str();
    return Status::success();
  }
  if (key == "cache") {
    std::optional<bool> use = value.getAsBoolean();
    if (!use && (!text || text->empty()))
      return optionError("option \"cache\" must be true, false or a folder",
                         "leave it out for the default folder");
    options.useCache = use.value_or(true);
    options.cacheFolder = text.value_or("").str();
    return Status::success();
  }
  if (key == "disable")
    return setDisabled(value, options);
  return optionError("unknown option \"" + key + "\"",
                     "known are target, numerics, cache and disable");
}

Status fusion::parseOptions(const char *text, CompileOptions &options) {
  if (!text || !*text)
    return Status::success();
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return optionError("the options are not JSON: " +
                           toString(value.takeError()),
                       "pass an object such as {\"target\": \"cpu\"}");
  const json::Object *object = value->getAsObject();
  if (!object)
    return optionError("the options are not a JSON object",
                       "pass an object such as {\"target\": \"cpu\"}");
  for (const auto &[key, option] : *object)
    if (Status status = setOption(key, option, options); status.failed())
      return status;
  return Status::success();
}
