//===- Hash.cpp - 128 bits that name a content ----------------------------===//
//
// MurmurHash3_x64_128 by Austin Appleby (public domain), reading little-endian
// words through memcpy so that data may lie at any address.
//
//===----------------------------------------------------------------------===//

#include "fusion/Runtime/Hash.h"
#include <cstring>

using namespace fusion::runtime;

static uint64_t rotate(uint64_t value, int by) {
  return value << by | value >> (64 - by);
}

static uint64_t finish(uint64_t value) {
  value = (value ^ value >> 33) * 0xff51afd7ed558ccdULL;
  value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53ULL;
  return value ^ value >> 33;
}

static constexpr uint64_t factor1 = 0x87c37b91114253d5ULL;
static constexpr uint64_t factor2 = 0x4cf5ad432745937fULL;

static uint64_t mix1(uint64_t word) {
  return rotate(word * factor1, 31) * factor2;
}
static uint64_t mix2(uint64_t word) {
  return rotate(word * factor2, 33) * factor1;
}

Hash128 fusion::runtime::hash(const void *data, size_t size, uint64_t seed) {
  const char *bytes = static_cast<const char *>(data);
  uint64_t low = seed, high = seed, words[2];
  for (size_t i = 0; i + 16 <= size; i += 16) {
    std::memcpy(words, bytes + i, 16);
    low = (rotate(low ^ mix1(words[0]), 27) + high) * 5 + 0x52dce729;
    high = (rotate(high ^ mix2(words[1]), 31) + low) * 5 + 0x38495ab5;
  }
  if (size_t rest = size % 16) {
    words[0] = words[1] = 0;
    std::memcpy(words, bytes + size - rest, rest);
    high ^= mix2(words[1]);
    low ^= mix1(words[0]);
  }
  low ^= size;
  high ^= size;
  low += high;
  high += low;
  low = finish(low);
  high = finish(high);
  low += high;
  high += low;
  return {low, high};
}

std::string Hash128::str() const {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (uint64_t word : {high, low})
    for (int shift = 60; shift >= 0; shift -= 4)
      text += digits[word >> shift & 15];
  return text;
}
