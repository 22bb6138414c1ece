// SPDX-License-Identifier: Apache-2.0
//
// Measures what a large embedding takes from the heap. A program of its own, because it replaces
// operator new.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <malloc.h>
#include <new>
#include <numeric>
#include <vector>

#include "steptape/testing/temp_dir.h"
#include "steptape/writer/summary_writer.h"

#include <gtest/gtest.h>

namespace {

std::atomic<std::size_t> bytesInUse{0};
std::atomic<std::size_t> mostInUse{0};

void release(void* memory) {
  bytesInUse.fetch_sub(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

// Not inlined: where one of a pair is, GCC sees std::free() take what operator new returned.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  const std::size_t now =
      bytesInUse.fetch_add(malloc_usable_size(memory)) + malloc_usable_size(memory);
  std::size_t most = mostInUse.load();
  while (most < now && !mostInUse.compare_exchange_weak(most, now)) {
  }
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  release(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}

namespace steptape {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(EmbeddingMemory, CountsWhatItMeansToCount) {
  const std::size_t before = bytesInUse;
  { const std::vector<char> large(8 * kMiB); }
  EXPECT_GE(mostInUse.load(), before + 8 * kMiB);
  EXPECT_EQ(bytesInUse.load(), before);
}

TEST(EmbeddingMemory, HoldsOneCopyOfTheMatrixAndNotItsText) {
  constexpr std::int64_t kPoints = 100'000;
  constexpr std::int64_t kDimensions = 16;
  std::vector<float> values(kPoints * kDimensions);
  std::iota(values.begin(), values.end(), 0.0F);
  for (float& value : values) {
    value /= 3;
  }
  const testing::TempDir dir;
  SummaryWriter writer(dir.string());
  ASSERT_TRUE(writer.flush().ok());

  const std::size_t before = bytesInUse;
  mostInUse = before;
  writer.addEmbedding(TensorView(values.data(), {kPoints, kDimensions}));
  ASSERT_TRUE(writer.flush().ok());

  const std::size_t matrixBytes = values.size() * sizeof(float);
  EXPECT_GE(mostInUse - before, matrixBytes);
  EXPECT_LE(mostInUse - before, matrixBytes + kMiB);
  EXPECT_LE(bytesInUse - before, kMiB) << "the copy is kept";
  EXPECT_GT(std::filesystem::file_size(dir.path() / "00000/default/tensors.tsv"), 12 * kMiB);
}

}  // namespace
}  // namespace steptape
