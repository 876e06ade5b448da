//===- Npy.cpp - NumPy's file format --------------------------------------===//
//
// A file is a magic string, a version, the length of a header, the header (a
// Python dictionary in text) and the elements. Only the header's three keys are
// understood; any other text is refused, not guessed at.
//
//===----------------------------------------------------------------------===//

#include "Npy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstring>

using namespace fusion::tools;
using namespace llvm;

static constexpr StringLiteral magic("\x93NUMPY");

// NumPy's descriptors, in the order of fusion_dtype.
static constexpr StringLiteral descriptors[] = {
    "<f8", "<f4", "<f2", "|V2", "|i1", "<i2", "<i4", "<i8", "|u1", "|b1"};

template <typename... Args>
static Error error(StringRef path, const Args &...args) {
  std::string text;
  raw_string_ostream stream(text);
  stream << path << ": ";
  (stream << ... << args);
  return createStringError(inconvertibleErrorCode(), text);
}

namespace {
struct Header {
  StringRef descriptor;
  bool isFortranOrder = false;
  SmallVector<int64_t, 4> sizes;
};
} // namespace

/// The text after `'key':`, without leading spaces, or an empty string.
static StringRef findValue(StringRef header, StringRef key) {
  size_t at = header.find(("'" + key + "'").str());
  if (at == StringRef::npos)
    return {};
  StringRef rest = header.drop_front(at + key.size() + 2).ltrim();
  return rest.consume_front(":") ? rest.ltrim() : StringRef();
}

static std::optional<Header> parseHeader(StringRef text) {
  Header header;
  StringRef descriptor = findValue(text, "descr");
  if (!descriptor.consume_front("'"))
    return std::nullopt;
  header.descriptor = descriptor.take_until([](char c) { return c == '\''; });
  header.isFortranOrder = findValue(text, "fortran_order").starts_with("True");
  StringRef shape = findValue(text, "shape");
  if (!shape.consume_front("("))
    return std::nullopt;
  SmallVector<StringRef> parts;
  shape.take_until([](char c) { return c == ')'; })
      .split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    int64_t size;
    if (part.trim().empty())
      continue;
    if (part.trim().getAsInteger(10, size) || size < 0)
      return std::nullopt;
    header.sizes.push_back(size);
  }
  return header;
}

Expected<HostTensor> fusion::tools::readNpy(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return error(path, buffer.getError().message());
  StringRef data = (*buffer)->getBuffer();
  if (!data.consume_front(magic) || data.size() < 6)
    return error(path, "is not a .npy file; write one by numpy.save");
  // Version 1 has a header length of 2 bytes, later ones of 4.
  size_t lengthBytes = data[0] == 1 ? 2 : 4;
  size_t length = lengthBytes == 2 ? support::endian::read16le(data.data() + 2)
                                   : support::endian::read32le(data.data() + 2);
  data = data.drop_front(2 + lengthBytes);
  std::optional<Header> header = parseHeader(data.take_front(length));
  if (length > data.size() || !header)
    return error(path, "has a damaged header; write it again by numpy.save");
  data = data.drop_front(length);

  const auto *descriptor = find(descriptors, header->descriptor);
  if (descriptor == std::end(descriptors))
    return error(path, "has elements '", header->descriptor,
                 "', which are none of float64, float32, float16, int8 to "
                 "int64, uint8 and bool in little-endian order; convert them "
                 "by numpy's astype");
  if (header->sizes.size() > FUSION_MAX_RANK)
    return error(path, "has ", header->sizes.size(), " dimensions; at most ",
                 FUSION_MAX_RANK, " are supported");
  auto dtype = static_cast<fusion_dtype>(descriptor - std::begin(descriptors));
  // The file must hold the elements before there is room for them.
  int64_t bytes = getByteSize(dtype);
  for (int64_t size : header->sizes)
    if (MulOverflow(bytes, size, bytes))
      return error(path, "has a shape too large to hold");
  if (static_cast<int64_t>(data.size()) != bytes)
    return error(path, "has ", data.size(), " bytes of elements where shape ",
                 formatSizes(header->sizes), " takes ", bytes,
                 "; the file is cut short or damaged");

  SmallVector<int64_t> order;
  if (header->isFortranOrder)
    for (size_t dim = header->sizes.size(); dim-- > 0;)
      order.push_back(dim);
  HostTensor tensor(dtype, header->sizes, order);
  std::memcpy(tensor.getData(), data.data(), bytes);
  return tensor;
}

Error fusion::tools::writeNpy(const HostTensor &tensor, StringRef path) {
  std::error_code code;
  raw_fd_ostream stream(path, code);
  if (code)
    return error(path, code.message());
  std::string shape = "(";
  for (int64_t size : tensor.getSizes())
    shape += itostr(size) + ",";
  std::string header = ("{'descr': '" + descriptors[tensor.getDType()] +
                        "', 'fortran_order': False, 'shape': " + shape + "), }")
                           .str();
  // The elements start at a multiple of 64 bytes, and a newline stands before.
  constexpr size_t prefix = 10;
  header.resize(alignTo(prefix + header.size() + 1, 64) - prefix - 1, ' ');
  header += '\n';
  char length[2];
  support::endian::write16le(length, header.size());
  stream << magic << '\x01' << '\x00' << StringRef(length, 2) << header;

  // In row-major order, whatever the order in memory.
  int64_t bytes = getByteSize(tensor.getDType());
  fusion_tensor view = tensor.view();
  for (int64_t i = 0, e = tensor.getNumElements(); i < e; ++i) {
    int64_t rest = i, offset = 0;
    for (int32_t dim = view.rank; dim-- > 0; rest /= view.sizes[dim])
      offset += rest % view.sizes[dim] * view.strides[dim];
    stream.write(static_cast<const char *>(view.data) + offset * bytes, bytes);
  }
  stream.close();
  if (stream.has_error()) {
    code = stream.error();
    stream.clear_error();
    return error(path, code.message());
  }
  return Error::success();
}
