// SPDX-License-Identifier: Apache-2.0
#include "reader/column_memory.h"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace steptape::detail {
namespace {

constexpr std::size_t kNumbers = 100'000;
constexpr std::size_t kBytes = kNumbers * sizeof(double);

using Numbers = Column<double>;

Numbers columnIn(ColumnMemory* memory) {
  Numbers column{ColumnAllocator<double>(memory)};
  column.reserve(kNumbers);
  return column;
}

TEST(ColumnMemory, BeginsColumnsAtDifferentLinesOfAPage) {
  ColumnMemory memory;
  memory.reserve(64, 64 * kBytes);
  std::vector<Numbers> columns;
  std::set<std::uintptr_t> lines;
  for (int i = 0; i < 64; ++i) {
    columns.push_back(columnIn(&memory));
    lines.insert(reinterpret_cast<std::uintptr_t>(columns.back().data()) % 4096 / 64);
  }
  EXPECT_EQ(lines.size(), 64U);
}

TEST(ColumnMemory, GivesEachColumnMemoryOfItsOwn) {
  ColumnMemory memory;
  memory.reserve(3, 3 * kBytes);
  std::vector<Numbers> columns;
  // The last one has to come from the heap.
  for (int i = 0; i < 8; ++i) {
    columns.push_back(columnIn(&memory));
    columns.back().assign(kNumbers, i);
  }
  for (int i = 0; i < 8; ++i) {
    EXPECT_THAT(columns[static_cast<std::size_t>(i)], testing::Each(i));
  }
}

TEST(ColumnMemory, LeavesShortColumnsToTheHeap) {
  ColumnMemory memory;
  memory.reserve(1, kBytes);
  EXPECT_EQ(memory.allocate(ColumnMemory::kMinColumnBytes - 1), nullptr);
  void* const column = memory.allocate(ColumnMemory::kMinColumnBytes);
  EXPECT_NE(column, nullptr);
  EXPECT_TRUE(memory.free(column));
}

TEST(ColumnMemory, HasNoRoomBeforeSomeIsReserved) {
  ColumnMemory memory;
  EXPECT_EQ(memory.allocate(kBytes), nullptr);
}

TEST(ColumnMemory, KnowsItsColumns) {
  ColumnMemory memory;
  memory.reserve(1, kBytes);
  std::vector<double> other(kNumbers);
  EXPECT_FALSE(memory.free(other.data()));
}

TEST(ColumnMemory, KeepsColumnsWhenMoreIsReserved) {
  ColumnMemory memory;
  memory.reserve(1, kBytes);
  Numbers first = columnIn(&memory);
  first.assign(kNumbers, 1);
  memory.reserve(1, 2 * kBytes);
  Numbers second{ColumnAllocator<double>(&memory)};
  second.reserve(2 * kNumbers);
  second.assign(first.begin(), first.end());
  first = std::move(second);
  EXPECT_THAT(first, testing::Each(1));
}

TEST(Column, GivesACopyMemoryOfItsOwn) {
  Numbers copy;
  {
    ColumnMemory memory;
    memory.reserve(1, kBytes);
    Numbers column = columnIn(&memory);
    column.assign(kNumbers, 2);
    copy = column;
    const Numbers another(column);
    EXPECT_EQ(another.get_allocator().memory, nullptr);
  }
  EXPECT_THAT(copy, testing::Each(2));
}

}  // namespace
}  // namespace steptape::detail
