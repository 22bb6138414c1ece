// SPDX-License-Identifier: Apache-2.0
//
// Measures the heap memory for a large embedding. A separate program, because it replaces operator
// new.
#include <filesystem>
#include <numeric>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "support/allocations.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(EmbeddingMemory, MeasuresAllocations) {
  const std::size_t before = bytesInUse();
  { const std::vector<char> large(8 * kMiB); }
  EXPECT_GE(mostBytesInUse(), before + 8 * kMiB);
  EXPECT_EQ(bytesInUse(), before);
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

  const std::size_t before = bytesInUse();
  forgetMostBytesInUse();
  writer.addEmbedding(TensorView(values.data(), {kPoints, kDimensions}));
  ASSERT_TRUE(writer.flush().ok());

  const std::size_t matrixBytes = values.size() * sizeof(float);
  EXPECT_GE(mostBytesInUse() - before, matrixBytes);
  EXPECT_LE(mostBytesInUse() - before, matrixBytes + kMiB);
  EXPECT_LE(bytesInUse() - before, kMiB) << "the copy is kept";
  EXPECT_GT(std::filesystem::file_size(dir.path() / "00000/default/tensors.tsv"), 12 * kMiB);
}

}  // namespace
}  // namespace steptape
