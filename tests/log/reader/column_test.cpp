// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <set>
#include <vector>

#include "steptape/log/run_reader.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

constexpr std::size_t kNumbers = 1'000'000;

TEST(Column, BeginsAtAnotherLineOfAPageThanTheOthers) {
  std::vector<Column<double>> columns(64);
  std::set<std::uintptr_t> lines;
  for (Column<double>& column : columns) {
    column.reserve(kNumbers);
    lines.insert(reinterpret_cast<std::uintptr_t>(column.data()) % 4096 / 64);
  }
  EXPECT_EQ(lines.size(), 64U);
}

TEST(Column, HoldsAnyNumberOfNumbers) {
  Column<std::int64_t> column;
  for (std::int64_t i = 0; i < 100'000; ++i) {
    column.push_back(i);
  }
  const Column<std::int64_t> copy = column;
  column.assign(column.size(), -1);
  for (std::int64_t i = 0; i < 100'000; ++i) {
    ASSERT_EQ(copy[static_cast<std::size_t>(i)], i);
  }
}

TEST(Column, RefusesMoreThanThereIs) {
  detail::log::ColumnAllocator<double> allocator;
  EXPECT_THROW(allocator.allocate(static_cast<std::size_t>(-1)), std::bad_alloc);
  EXPECT_THROW(detail::log::allocateColumn(static_cast<std::size_t>(-1)), std::bad_alloc);
}

}  // namespace
}  // namespace steptape
