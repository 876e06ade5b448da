//===- KernelCache.cpp - compiled code on disk ----------------------------===//

#include "fusion/Runtime/KernelCache.h"
#include "fusion/Runtime/Hash.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace fusion::runtime;

namespace {
constexpr char entryMagic[8] = {'F', 'U', 'S', 'N', 'C', 'A', 'C', '1'};
constexpr char entrySuffix[] = ".entry";
constexpr char temporarySuffix[] = ".tmp";
/// A temporary file so old was left by a process that died.
constexpr int64_t staleSeconds = 3600;

struct EntryHeader {
  char magic[8];
  uint64_t size;
  Hash128 hash;
};

/// A file descriptor that closes itself.
struct File {
  explicit File(int descriptor) : descriptor(descriptor) {}
  ~File() {
    if (descriptor >= 0)
      close(descriptor);
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  const int descriptor;
};
} // namespace

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

static std::string getSystemError(const std::string &what) {
  return what + ": " + std::strerror(errno);
}

/// The checksum of an entry, which belongs to this key only.
static Hash128 hashEntry(const std::string &key, const std::string &data) {
  return hash(data, hash(key).low);
}

static bool makeFolders(const std::string &path) {
  for (size_t end = path.find('/', 1); end != std::string::npos;
       end = path.find('/', end + 1))
    mkdir(path.substr(0, end).c_str(), 0700);
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) {
    struct stat info;
    errno = ENOTDIR;
    return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  }
  return false;
}

static bool readAll(int file, void *to, size_t size) {
  char *bytes = static_cast<char *>(to);
  while (size > 0) {
    ssize_t got = read(file, bytes, size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    bytes += got;
    size -= got;
  }
  return true;
}

static bool writeAll(int file, const std::string &data) {
  for (size_t done = 0; done < data.size();) {
    ssize_t put = ::write(file, data.data() + done, data.size() - done);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return false;
    done += put;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Folder
//===----------------------------------------------------------------------===//

std::string KernelCache::getDefaultFolder() {
  auto get = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (std::string folder = get("FUSION_CACHE_DIR"); !folder.empty())
    return folder;
  if (std::string folder = get("XDG_CACHE_HOME"); !folder.empty())
    return folder + "/fusion";
  std::string home = get("HOME");
  if (home.empty())
    if (const passwd *user = getpwuid(geteuid()))
      home = user->pw_dir;
  return home.empty() ? "" : home + "/.cache/fusion";
}

KernelCache::KernelCache(std::string where, int64_t limit)
    : folder(where.empty() ? getDefaultFolder() : std::move(where)),
      limit(limit) {}

std::string KernelCache::getPath(const std::string &key) const {
  return folder + "/" + key + entrySuffix;
}

std::string KernelCache::checkWritable() {
  if (folder.empty())
    return "no home folder; set FUSION_CACHE_DIR";
  if (!makeFolders(folder))
    return getSystemError("cannot create '" + folder + "'");
  std::string path = folder + "/" + std::to_string(getpid()) + temporarySuffix;
  std::string reason;
  if (!writeFile(path, "", "", reason))
    return reason;
  unlink(path.c_str());
  return "";
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

bool KernelCache::load(const std::string &key, std::string &data) {
  std::string path = getPath(key);
  File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (file.descriptor < 0 || fstat(file.descriptor, &info) != 0)
    return false;
  // Entries are code: run only what this user or the system wrote.
  if (info.st_uid != geteuid() && info.st_uid != 0)
    return false;
  EntryHeader header;
  bool right = static_cast<size_t>(info.st_size) >= sizeof(header) &&
               readAll(file.descriptor, &header, sizeof(header)) &&
               !std::memcmp(header.magic, entryMagic, sizeof(entryMagic)) &&
               header.size == info.st_size - sizeof(header);
  if (right) {
    data.resize(header.size);
    right = readAll(file.descriptor, &data[0], data.size()) &&
            header.hash == hashEntry(key, data);
  }
  if (!right) {
    data.clear();
    unlink(path.c_str());
    return false;
  }
  // Used now: eviction goes by this time.
  futimens(file.descriptor, nullptr);
  return true;
}

bool KernelCache::writeFile(const std::string &path, const std::string &header,
                            const std::string &data, std::string &reason) {
  File file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.descriptor >= 0 && writeAll(file.descriptor, header) &&
      writeAll(file.descriptor, data))
    return true;
  reason = getSystemError("cannot write '" + path + "'");
  if (file.descriptor >= 0)
    unlink(path.c_str());
  return false;
}

bool KernelCache::store(const std::string &key, const std::string &data,
                        std::string &reason) {
  if (folder.empty() || !makeFolders(folder)) {
    reason = folder.empty() ? "no home folder; set FUSION_CACHE_DIR"
                            : getSystemError("cannot create '" + folder + "'");
    return false;
  }
  EntryHeader header = {};
  std::memcpy(header.magic, entryMagic, sizeof(entryMagic));
  header.size = data.size();
  header.hash = hashEntry(key, data);

  static std::atomic<unsigned> counter{0};
  std::string path = getPath(key);
  std::string temporary = path + "." + std::to_string(getpid()) + "." +
                          std::to_string(counter++) + temporarySuffix;
  std::string bytes(reinterpret_cast<const char *>(&header), sizeof(header));
  if (!writeFile(temporary, bytes, data, reason))
    return false;
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    reason = getSystemError("cannot rename to '" + path + "'");
    unlink(temporary.c_str());
    return false;
  }
  if ((untilEviction -= data.size() + sizeof(header)) < 0)
    evict();
  return true;
}

void KernelCache::remove(const std::string &key) {
  unlink(getPath(key).c_str());
}

/// Removes the entries used longest ago until the folder holds at most 3/4 of
/// the limit, if it holds more than the limit. Another process may be doing
/// the same: a file that is gone already is no error.
void KernelCache::evict() {
  DIR *listing = opendir(folder.c_str());
  if (!listing)
    return;
  struct Entry {
    int64_t used, bytes;
    std::string path;
  };
  std::vector<Entry> entries;
  int64_t total = 0, now = time(nullptr);
  while (const dirent *item = readdir(listing)) {
    std::string path = folder + "/" + item->d_name;
    bool isTemporary = endsWith(path, temporarySuffix);
    struct stat info;
    if ((!isTemporary && !endsWith(path, entrySuffix)) ||
        stat(path.c_str(), &info) != 0)
      continue;
    if (isTemporary) {
      if (now - info.st_mtim.tv_sec > staleSeconds)
        unlink(path.c_str());
      continue;
    }
    int64_t used = info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
    entries.push_back({used, info.st_size, std::move(path)});
    total += info.st_size;
  }
  closedir(listing);
  if (total > limit) {
    std::sort(entries.begin(), entries.end(),
              [](const Entry &a, const Entry &b) { return a.used < b.used; });
    for (const Entry &entry : entries) {
      if (total <= limit / 4 * 3)
        break;
      unlink(entry.path.c_str());
      total -= entry.bytes;
    }
  }
  untilEviction = std::max<int64_t>(limit - total, 0) / 4;
}
