//===- Arguments.cpp - what a graph is run on -----------------------------===//

#include "Arguments.h"
#include "common/Call.h"
#include "common/Npy.h"
#include "llvm/ADT/StringMap.h"

using namespace fusion::tools;
using namespace llvm;

/// Sizes by name; "" is for symbols without an entry.
using Sizes = StringMap<int64_t>;

static Expected<json::Object> getSignature(StringRef text) {
  char *json = nullptr;
  if (Error error = toError(fusion_signature(text.data(), text.size(), &json)))
    return std::move(error);
  Expected<json::Value> value = json::parse(json);
  fusion_string_free(json);
  if (!value)
    return value.takeError();
  return std::move(*value->getAsObject());
}

static Expected<Sizes> parseSizes(ArrayRef<std::string> entries) {
  Sizes sizes;
  for (StringRef entry : entries) {
    auto [name, number] = entry.split('=');
    if (!entry.contains('='))
      std::swap(name, number);
    int64_t size;
    if (number.getAsInteger(10, size) || size < 0)
      return createStringError("argument: --size takes NAME=NUMBER or NUMBER, "
                               "got '" +
                               entry + "'");
    sizes[name] = size;
  }
  return sizes;
}

/// Sizes of one argument of the signature.
static SmallVector<int64_t> getShape(const json::Object &argument,
                                     const Sizes &sizes) {
  SmallVector<int64_t> shape;
  for (const json::Value &size : *argument.getArray("shape")) {
    if (std::optional<int64_t> number = size.getAsInteger()) {
      shape.push_back(*number);
      continue;
    }
    auto entry = sizes.find(*size.getAsString());
    if (entry == sizes.end())
      entry = sizes.find("");
    // Neither a power of two nor a multiple of a vector: what masks the edges
    // has to work.
    shape.push_back(entry != sizes.end() ? entry->second : 13);
  }
  return shape;
}

/// Binds the symbols of an argument to the sizes of its data. What does not
/// agree is reported by the run.
static void bindSymbols(const json::Object &argument, const HostTensor &data,
                        Sizes &sizes) {
  const json::Array &shape = *argument.getArray("shape");
  if (shape.size() != data.getSizes().size())
    return;
  for (auto [size, actual] : zip_equal(shape, data.getSizes()))
    if (std::optional<StringRef> name = size.getAsString())
      if (*name != "?")
        sizes.try_emplace(*name, actual);
}

Expected<std::vector<HostTensor>>
fusion::tools::makeArguments(StringRef text, ArrayRef<std::string> files,
                             ArrayRef<std::string> sizeEntries, uint64_t seed) {
  Expected<json::Object> signature = getSignature(text);
  if (!signature)
    return signature.takeError();
  Expected<Sizes> sizes = parseSizes(sizeEntries);
  if (!sizes)
    return sizes.takeError();
  const json::Array &arguments = *signature->getArray("arguments");
  if (files.size() > arguments.size())
    return createStringError("argument: %zu files for the %zu arguments of "
                             "@main; leave some out",
                             files.size(), arguments.size());
  std::vector<HostTensor> tensors;
  std::mt19937_64 random(seed);
  for (auto [i, value] : enumerate(arguments)) {
    const json::Object &argument = *value.getAsObject();
    if (i < files.size()) {
      Expected<HostTensor> tensor = readNpy(files[i]);
      if (!tensor)
        return tensor.takeError();
      bindSymbols(argument, *tensor, *sizes);
      tensors.push_back(std::move(*tensor));
      continue;
    }
    SmallVector<int64_t> order;
    for (const json::Value &dim : *argument.getArray("order"))
      order.push_back(*dim.getAsInteger());
    SmallVector<int64_t> shape = getShape(argument, *sizes);
    if (shape.size() > FUSION_MAX_RANK)
      return createStringError("argument: argument %zu has rank %zu, at most "
                               "%d is supported",
                               i, shape.size(), FUSION_MAX_RANK);
    tensors.emplace_back(*parseDType(*argument.getString("dtype")), shape,
                         order);
    tensors.back().fillRandom(random);
  }
  return tensors;
}

Expected<size_t> fusion::tools::getNumResults(StringRef text) {
  Expected<json::Object> signature = getSignature(text);
  if (!signature)
    return signature.takeError();
  return signature->getArray("results")->size();
}
