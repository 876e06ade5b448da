//===- PlanFile.cpp - plans as bytes --------------------------------------===//
//
// One list of fields serves writing and reading, so the two can't drift apart.
// A checksum over the body finds damage; after it, `check` makes sure that no
// number in the plan points outside of it, so that running a plan never has to.
//
//===----------------------------------------------------------------------===//

#include "fusion-c/fusion.h"
#include "fusion/Runtime/Hash.h"
#include "fusion/Runtime/Plan.h"
#include <cstring>
#include <type_traits>

using namespace fusion::runtime;

namespace {

/// Changes whenever the fields below do.
constexpr uint32_t formatVersion = 2;

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t reserved;
  uint64_t bodySize;
  Hash128 bodyHash;
};
constexpr char fileMagic[8] = {'F', 'U', 'S', 'N', 'P', 'L', 'A', 'N'};

class Writer {
public:
  std::string bytes;

  template <class... T> void operator()(T &...fields) { (put(fields), ...); }

private:
  template <class T> void put(T &value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
    else
      visit(*this, value);
  }
  void put(std::string &value) {
    putCount(value.size());
    bytes += value;
  }
  template <class T> void put(std::vector<T> &values) {
    putCount(values.size());
    for (T &value : values)
      put(value);
  }
  void putCount(uint64_t count) { put(count); }
};

/// Reads what Writer wrote; `failed` once the bytes end too early.
class Reader {
public:
  Reader(const char *data, size_t size) : next(data), left(size) {}
  bool failed = false;
  size_t getLeft() const { return left; }

  template <class... T> void operator()(T &...fields) { (get(fields), ...); }

private:
  template <class T> void get(T &value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      copy(&value, sizeof(T));
    else
      visit(*this, value);
  }
  void get(std::string &value) {
    value.resize(getCount());
    copy(&value[0], value.size());
  }
  template <class T> void get(std::vector<T> &values) {
    values.resize(getCount());
    for (T &value : values)
      get(value);
  }
  /// Every element takes at least a byte, so a count past the end is damage;
  /// refusing it here keeps damage from allocating gigabytes.
  size_t getCount() {
    uint64_t count = 0;
    copy(&count, sizeof(count));
    if (count <= left)
      return count;
    failed = true;
    return 0;
  }
  void copy(void *to, size_t size) {
    if (size > left) {
      failed = true;
      left = 0;
      return;
    }
    std::memcpy(to, next, size);
    next += size;
    left -= size;
  }

  const char *next;
  size_t left;
};

//===-- The fields -------------------------------------------------------===//

template <class Io> void visit(Io &io, SizeExpr::Item &v) { io(v.op, v.value); }
template <class Io> void visit(Io &io, SizeExpr &v) { io(v.items); }
template <class Io> void visit(Io &io, SymbolSource &v) {
  io(v.argument, v.dim, v.stride);
}
template <class Io> void visit(Io &io, TensorSpec &v) {
  io(v.dtype, v.sizes, v.strides, v.align, v.name);
}
template <class Io> void visit(Io &io, BufferRef &v) { io(v.kind, v.index); }
template <class Io> void visit(Io &io, Temporary &v) {
  io(v.bytes, v.elementBytes, v.firstUse, v.lastUse);
}
template <class Io> void visit(Io &io, Constant &v) { io(v.align, v.data); }
template <class Io> void visit(Io &io, Kernel &v) {
  io(v.name, v.code, v.threads, v.indexBits, v.sharedBytes);
}
template <class Io> void visit(Io &io, Launch &v) {
  io(v.kernel, v.buffers, v.sizes, v.grid, v.work, v.location);
}
template <class Io> void visit(Io &io, Plan &v) {
  io(v.target, v.arch, v.symbols, v.arguments, v.results, v.constants,
     v.temporaries, v.kernels, v.launches, v.report);
}

//===-- Consistency ------------------------------------------------------===//

template <class T> bool isIndex(int32_t index, const std::vector<T> &of) {
  return index >= 0 && static_cast<size_t>(index) < of.size();
}

bool isPowerOfTwo(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

bool areValid(const std::vector<SizeExpr> &exprs, const Plan &plan) {
  for (const SizeExpr &expr : exprs)
    if (!expr.isValid(plan.symbols.size()))
      return false;
  return true;
}

bool isValid(const SymbolSource &source, const Plan &plan) {
  return isIndex(source.argument, plan.arguments) &&
         isIndex(source.dim, plan.arguments[source.argument].sizes);
}

bool isValid(const TensorSpec &spec, const Plan &plan) {
  return spec.dtype <= DType::Bool && spec.sizes.size() <= FUSION_MAX_RANK &&
         (spec.strides.empty() || spec.strides.size() == spec.sizes.size()) &&
         isPowerOfTwo(spec.align) && areValid(spec.sizes, plan) &&
         areValid(spec.strides, plan);
}

bool isValid(const BufferRef &ref, const Plan &plan) {
  switch (ref.kind) {
  case BufferRef::Kind::Argument:
    return isIndex(ref.index, plan.arguments);
  case BufferRef::Kind::Result:
    return isIndex(ref.index, plan.results);
  case BufferRef::Kind::Constant:
    return isIndex(ref.index, plan.constants);
  case BufferRef::Kind::Temporary:
    return isIndex(ref.index, plan.temporaries);
  }
  return false;
}

bool isValid(const Temporary &temporary, const Plan &plan) {
  return temporary.bytes.isValid(plan.symbols.size()) &&
         temporary.elementBytes >= 1 &&
         isIndex(temporary.firstUse, plan.launches) &&
         isIndex(temporary.lastUse, plan.launches) &&
         temporary.firstUse <= temporary.lastUse;
}

bool isValid(const Constant &constant, const Plan &) {
  return isPowerOfTwo(constant.align) && constant.align <= 4096;
}

bool isValid(const Kernel &kernel, const Plan &) {
  return kernel.threads >= 1 && kernel.threads <= 1024 &&
         (kernel.indexBits == 32 || kernel.indexBits == 64) &&
         kernel.sharedBytes >= 0;
}

bool isValid(const Launch &launch, const Plan &plan) {
  for (const BufferRef &ref : launch.buffers)
    if (!isValid(ref, plan))
      return false;
  return isIndex(launch.kernel, plan.kernels) && areValid(launch.sizes, plan) &&
         launch.grid.isValid(plan.symbols.size()) &&
         (launch.work.items.empty() ||
          launch.work.isValid(plan.symbols.size()));
}

template <class T>
bool allValid(const std::vector<T> &values, const Plan &plan) {
  for (const T &value : values)
    if (!isValid(value, plan))
      return false;
  return true;
}

/// A temporary keeps its memory from first to last use only: whoever touches
/// it outside of that would see another's data.
bool areLifetimesKept(const Plan &plan) {
  for (size_t i = 0; i < plan.launches.size(); ++i)
    for (const BufferRef &ref : plan.launches[i].buffers) {
      if (ref.kind != BufferRef::Kind::Temporary)
        continue;
      const Temporary &temporary = plan.temporaries[ref.index];
      if (static_cast<int32_t>(i) < temporary.firstUse ||
          static_cast<int32_t>(i) > temporary.lastUse)
        return false;
    }
  return true;
}

} // namespace

std::string fusion::runtime::check(const Plan &plan) {
  if (plan.target > TargetKind::Emulator)
    return "an unknown target";
  if (!allValid(plan.symbols, plan))
    return "a symbol without a source";
  if (!allValid(plan.arguments, plan))
    return "an invalid argument";
  for (const TensorSpec &result : plan.results)
    if (!isValid(result, plan) || result.strides.size() != result.sizes.size())
      return "an invalid result";
  if (!allValid(plan.constants, plan))
    return "an invalid constant";
  if (!allValid(plan.temporaries, plan))
    return "an invalid temporary";
  if (!allValid(plan.kernels, plan))
    return "an invalid kernel";
  if (!allValid(plan.launches, plan))
    return "an invalid launch";
  if (!areLifetimesKept(plan))
    return "a launch that uses a temporary outside of its lifetime";
  return "";
}

std::string fusion::runtime::write(const Plan &plan) {
  Writer writer;
  writer(const_cast<Plan &>(plan)); // the field list serves both directions
  FileHeader header = {};
  std::memcpy(header.magic, fileMagic, sizeof(fileMagic));
  header.version = formatVersion;
  header.bodySize = writer.bytes.size();
  header.bodyHash = hash(writer.bytes);
  return std::string(reinterpret_cast<const char *>(&header), sizeof(header)) +
         writer.bytes;
}

bool fusion::runtime::read(const std::string &data, Plan &plan,
                           std::string &reason) {
  auto fail = [&](std::string text) {
    reason = std::move(text);
    plan = Plan();
    return false;
  };
  FileHeader header;
  if (data.size() < sizeof(header))
    return fail("too short for a saved executable");
  std::memcpy(&header, data.data(), sizeof(header));
  if (std::memcmp(header.magic, fileMagic, sizeof(fileMagic)) != 0)
    return fail("not a saved executable");
  if (header.version != formatVersion || header.reserved != 0)
    return fail("saved in format " + std::to_string(header.version) +
                ", this version reads format " + std::to_string(formatVersion));
  const char *body = data.data() + sizeof(header);
  size_t bodySize = data.size() - sizeof(header);
  if (header.bodySize != bodySize)
    return fail("truncated: " + std::to_string(bodySize) + " of " +
                std::to_string(header.bodySize) + " bytes");
  if (header.bodyHash != hash(body, bodySize))
    return fail("damaged: the checksum does not match");
  plan = Plan();
  Reader reader(body, bodySize);
  reader(plan);
  if (reader.failed || reader.getLeft() != 0)
    return fail("damaged: the fields do not fit the file");
  if (std::string problem = check(plan); !problem.empty())
    return fail("damaged: it holds " + problem);
  return true;
}
