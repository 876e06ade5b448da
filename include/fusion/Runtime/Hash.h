//===- Hash.h - 128 bits that name a content ------------------------------===//
//
// The checksum of plans and cache entries and the key of the caches. It guards
// against damage and chance, not against an attacker, and is the same in every
// process and on every machine, which llvm::hash_value is not.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_RUNTIME_HASH_H
#define FUSION_RUNTIME_HASH_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace fusion::runtime {

struct Hash128 {
  uint64_t low = 0, high = 0;
  bool operator==(const Hash128 &other) const {
    return low == other.low && high == other.high;
  }
  bool operator!=(const Hash128 &other) const { return !(*this == other); }
  /// 32 hexadecimal digits.
  std::string str() const;
};

/// MurmurHash3 (x64, 128 bits) of `size` bytes.
Hash128 hash(const void *data, size_t size, uint64_t seed = 0);
inline Hash128 hash(const std::string &data, uint64_t seed = 0) {
  return hash(data.data(), data.size(), seed);
}

} // namespace fusion::runtime

#endif // FUSION_RUNTIME_HASH_H
