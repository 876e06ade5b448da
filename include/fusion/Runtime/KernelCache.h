//===- KernelCache.h - compiled code on disk ------------------------------===//
//
// Entries named by the hash of what they were made from: plans and linked GPU
// code. An entry appears by renaming a finished file, so other processes see
// all of it or nothing; its checksum covers the name as well, so a damaged or
// misplaced file is removed and rebuilt. A folder that can't be written only
// means that nothing is kept.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_RUNTIME_KERNELCACHE_H
#define FUSION_RUNTIME_KERNELCACHE_H

#include <atomic>
#include <cstdint>
#include <string>

namespace fusion::runtime {

class KernelCache {
public:
  /// In `folder`, or with "" in the default one; keeps at most `limit` bytes.
  explicit KernelCache(std::string folder = "", int64_t limit = int64_t(1)
                                                                << 30);

  /// $FUSION_CACHE_DIR, $XDG_CACHE_HOME/fusion or ~/.cache/fusion; "" where
  /// there is no home.
  static std::string getDefaultFolder();
  const std::string &getFolder() const { return folder; }

  /// `key` is Hash128::str() of everything that the entry depends on.
  bool load(const std::string &key, std::string &data);
  /// False and a reason where the entry could not be written.
  bool store(const std::string &key, const std::string &data,
             std::string &reason);
  void remove(const std::string &key);
  /// Why the folder can't be used, or "".
  std::string checkWritable();

private:
  std::string getPath(const std::string &key) const;
  bool writeFile(const std::string &path, const std::string &header,
                 const std::string &data, std::string &reason);
  void evict();

  std::string folder;
  int64_t limit;
  /// Bytes that may be written until the folder's size is looked at again.
  std::atomic<int64_t> untilEviction{0};
};

} // namespace fusion::runtime

#endif // FUSION_RUNTIME_KERNELCACHE_H
