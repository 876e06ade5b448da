//===- RuntimePoolTest.cpp - memory, threads and the disk cache -----------===//

#include "fusion/Runtime/Hash.h"
#include "fusion/Runtime/KernelCache.h"
#include "fusion/Runtime/MemoryPool.h"
#include "fusion/Runtime/ThreadPool.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace fusion::runtime;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(MemoryPool, AlignsAndReuses) {
  MemoryPool pool(1 << 20);
  void *first = pool.allocate(1000);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % MemoryPool::alignment, 0u);
  pool.release(first);
  EXPECT_GE(pool.getIdleBytes(), 1000u);
  EXPECT_EQ(pool.allocate(1001), first);
  EXPECT_EQ(pool.getIdleBytes(), 0u);
  pool.release(first);
  pool.trim();
  EXPECT_EQ(pool.getIdleBytes(), 0u);
  pool.release(nullptr);
}

TEST(MemoryPool, GivesWhatIsAskedFor) {
  MemoryPool pool(0);
  std::mt19937_64 random(3);
  for (int i = 0; i < 3000; ++i) {
    size_t bytes = random() % (size_t(1) << random() % 24);
    char *data = static_cast<char *>(pool.allocate(bytes));
    ASSERT_NE(data, nullptr);
    std::memset(data, 1, bytes);
    pool.release(data);
  }
  EXPECT_EQ(pool.getIdleBytes(), 0u);
}

TEST(MemoryPool, EvictsTheLongestIdle) {
  MemoryPool pool(10000);
  void *small = pool.allocate(2048), *large = pool.allocate(8192);
  void *other = pool.allocate(2048);
  pool.release(small);
  pool.release(large); // 10240 idle: the small one goes
  EXPECT_EQ(pool.getIdleBytes(), 8192u);
  pool.release(other);
  EXPECT_EQ(pool.getIdleBytes(), 2048u);
}

TEST(MemoryPool, RefusesWhatNobodyHas) {
  EXPECT_EQ(MemoryPool::get().allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(MemoryPool::get().allocate(size_t(1) << 46), nullptr);
}

TEST(MemoryPool, IsSafeAcrossThreads) {
  MemoryPool pool(1 << 20);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      std::vector<std::pair<char *, size_t>> held;
      for (int i = 0; i < 5000; ++i) {
        size_t bytes = 1 + random() % 10000;
        char *data = static_cast<char *>(pool.allocate(bytes));
        data[0] = data[bytes - 1] = char(t);
        held.push_back({data, bytes});
        if (held.size() < 8)
          continue;
        auto [old, size] = held[random() % held.size()];
        EXPECT_TRUE(old[0] == char(t) && old[size - 1] == char(t));
        for (auto &item : held)
          pool.release(item.first);
        held.clear();
      }
      for (auto &item : held)
        pool.release(item.first);
    });
  for (std::thread &thread : threads)
    thread.join();
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

static constexpr int64_t muchWork = int64_t(1) << 30;

/// Whether every index of [0, count) is visited once.
static bool visitsAll(int64_t count, int64_t work) {
  std::vector<std::atomic<int>> visits(count);
  ThreadPool::get().forEachPart(count, work, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      ++visits[i];
  });
  for (std::atomic<int> &visit : visits)
    if (visit != 1)
      return false;
  return true;
}

class Threads : public testing::Test {
protected:
  void SetUp() override { ThreadPool::get().setNumThreads(4); }
  void TearDown() override { ThreadPool::get().setNumThreads(0); }
};

TEST_F(Threads, CoverEveryIndexOnce) {
  for (int64_t count : {0, 1, 2, 3, 7, 16, 17, 1000})
    for (int64_t work : {int64_t(0), int64_t(100) << 10, muchWork})
      EXPECT_TRUE(visitsAll(count, work)) << count;
}

TEST_F(Threads, KeepSmallWorkOnTheCaller) {
  std::thread::id self = std::this_thread::get_id();
  ThreadPool::get().forEachPart(1000, /*work=*/4096,
                                [&](int64_t begin, int64_t end) {
                                  EXPECT_EQ(std::this_thread::get_id(), self);
                                  EXPECT_EQ(end - begin, 1000);
                                });
}

TEST_F(Threads, ServeManyCallersAndNestedOnes) {
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 2000; ++i)
        wrong += !visitsAll(1 + i % 50, muchWork);
    });
  for (std::thread &caller : callers)
    caller.join();
  ThreadPool::get().forEachPart(20, muchWork, [&](int64_t, int64_t) {
    wrong += !visitsAll(30, muchWork);
  });
  EXPECT_EQ(wrong, 0);
}

TEST_F(Threads, ChangeInNumber) {
  for (int threads : {1, 2, 8, 3, 1, 5}) {
    ThreadPool::get().setNumThreads(threads);
    EXPECT_EQ(ThreadPool::get().getNumThreads(), threads);
    for (int i = 0; i < 50; ++i)
      EXPECT_TRUE(visitsAll(100, muchWork));
  }
  ThreadPool::get().setNumThreads(0);
  EXPECT_GE(ThreadPool::get().getNumThreads(), 1);
}

TEST_F(Threads, WorkInTheChildOfAFork) {
  // Forks while another thread keeps the pool busy.
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop)
      visitsAll(64, muchWork);
  });
  for (int i = 0; i < 20; ++i) {
    pid_t child = fork();
    if (child == 0) {
      bool right = true;
      for (int j = 0; j < 20; ++j)
        right &= visitsAll(100, muchWork);
      void *data = MemoryPool::get().allocate(1000);
      MemoryPool::get().release(data);
      _exit(right && data ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  busy.join();
}

//===----------------------------------------------------------------------===//
// Disk cache
//===----------------------------------------------------------------------===//

class Cache : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/fusion-cache-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder = name;
  }
  void TearDown() override {
    std::string command = "rm -rf " + folder;
    EXPECT_EQ(std::system(command.c_str()), 0);
  }
  std::string read(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void overwrite(const std::string &path, const std::string &data) {
    std::ofstream(path, std::ios::binary) << data;
  }
  std::string pathOf(const std::string &key) {
    return folder + "/" + key + ".entry";
  }

  std::string folder, reason, data;
  const std::string key = hash("content").str();
};

TEST_F(Cache, StoresAndLoads) {
  KernelCache cache(folder + "/deep/er");
  EXPECT_FALSE(cache.load(key, data));
  ASSERT_TRUE(cache.store(key, "first", reason)) << reason;
  ASSERT_TRUE(cache.store(key, "second", reason)) << reason;
  EXPECT_TRUE(KernelCache(folder + "/deep/er").load(key, data));
  EXPECT_EQ(data, "second");
  cache.remove(key);
  EXPECT_FALSE(cache.load(key, data));
  EXPECT_EQ(cache.checkWritable(), "");
}

TEST_F(Cache, RemovesDamagedEntries) {
  KernelCache cache(folder);
  ASSERT_TRUE(cache.store(key, "some content", reason));
  std::string whole = read(pathOf(key));
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] ^= 0x20;
    overwrite(pathOf(key), damaged);
    EXPECT_FALSE(cache.load(key, data)) << i;
    EXPECT_NE(access(pathOf(key).c_str(), F_OK), 0) << "must be gone";
    overwrite(pathOf(key), whole.substr(0, i));
    EXPECT_FALSE(cache.load(key, data)) << i;
  }
  ASSERT_TRUE(cache.store(key, "some content", reason));
  EXPECT_TRUE(cache.load(key, data));
}

TEST_F(Cache, RefusesAnotherKeysEntry) {
  KernelCache cache(folder);
  std::string other = hash("other").str();
  ASSERT_TRUE(cache.store(key, "content", reason));
  ASSERT_EQ(rename(pathOf(key).c_str(), pathOf(other).c_str()), 0);
  EXPECT_FALSE(cache.load(other, data));
}

TEST_F(Cache, WorksWithoutAFolder) {
  overwrite(folder + "/file", "");
  KernelCache cache(folder + "/file/below");
  EXPECT_FALSE(cache.store(key, "content", reason));
  EXPECT_NE(reason.find("cannot create"), std::string::npos) << reason;
  EXPECT_FALSE(cache.load(key, data));
  EXPECT_NE(cache.checkWritable(), "");
  if (geteuid() == 0)
    return; // root may write anywhere
  chmod(folder.c_str(), 0500);
  KernelCache unwritable(folder);
  EXPECT_FALSE(unwritable.store(key, "content", reason));
  EXPECT_NE(unwritable.checkWritable(), "");
  chmod(folder.c_str(), 0700);
}

TEST_F(Cache, EvictsTheOldest) {
  KernelCache cache(folder, /*limit=*/10000);
  for (int i = 0; i < 40; ++i) {
    std::string name = hash(std::to_string(i)).str();
    ASSERT_TRUE(cache.store(name, std::string(1000, 'x'), reason));
    usleep(2000);
    std::string first = hash("0").str();
    EXPECT_TRUE(cache.load(first, data)) << "used last, kept";
  }
  int64_t kept = 0;
  for (int i = 0; i < 40; ++i)
    kept += cache.load(hash(std::to_string(i)).str(), data);
  EXPECT_LE(kept, 13);
  EXPECT_GE(kept, 5);
  EXPECT_TRUE(cache.load(hash("39").str(), data));
}

TEST_F(Cache, IsSafeBetweenProcesses) {
  for (int process = 0; process < 3; ++process)
    if (fork() == 0) {
      KernelCache cache(folder);
      bool right = true;
      for (int i = 0; i < 300; ++i) {
        std::string name = hash(std::to_string(i % 5)).str();
        cache.store(name, std::string(5000 + i % 5, char('a' + i % 5)), reason);
        if (cache.load(name, data))
          right &= data == std::string(5000 + i % 5, char('a' + i % 5));
        else
          right = false;
      }
      _exit(right ? 0 : 1);
    }
  for (int process = 0; process < 3; ++process) {
    int status = -1;
    wait(&status);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

TEST(CacheFolder, ComesFromTheEnvironment) {
  std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
  setenv("FUSION_CACHE_DIR", "/a", 1);
  setenv("XDG_CACHE_HOME", "/b", 1);
  EXPECT_EQ(KernelCache::getDefaultFolder(), "/a");
  unsetenv("FUSION_CACHE_DIR");
  EXPECT_EQ(KernelCache::getDefaultFolder(), "/b/fusion");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/c", 1);
  EXPECT_EQ(KernelCache::getDefaultFolder(), "/c/.cache/fusion");
  setenv("HOME", home.c_str(), 1);
}
