// SPDX-License-Identifier: Apache-2.0
// A damaged file of a state gives an error or a state, and costs bounded time and memory.
#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include "steptape/process/zone.h"

#include "base/whole_file.h"
#include "process/blackbox/state_child.h"
#include "process/blackbox/state_layout.h"
#include "process/blackbox/state_page.h"
#include "support/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::process {
namespace {

using test::StateChild;

class StateDamageTest : public test::StateTest {
 protected:
  /// Returns the bytes of the file of a process that was killed.
  std::string realFile() {
    StateChild child([](const auto& ready) {
      StatePage::keep();
      StatePage& page = *StatePage::current();
      page.noteLogDirectory("runs/a");
      page.values().note(page.values().add("loss", "runs/a"), {3, 0.5F, 1, true, 3, 0.5F});
      page.collectives().start(page.collectives().addGroup(1, "ranks 0-1", 0, 2), 1, "barrier", 0,
                               nullptr, RankState::CollectivePhase::kWaiting);
      noteStep(3);
      STEPTAPE_ZONE("train");
      ready.tellAndWait();
    });
    EXPECT_TRUE(child.isReady());
    std::string bytes;
    EXPECT_TRUE(base::readWholeFile(boxes().front().pathOf(kStatePart), bytes).ok());
    return bytes;
  }
};

TEST_F(StateDamageTest, EveryTruncationOfASectionIsAnError) {
  const std::string bytes = realFile();
  RankState state;
  ASSERT_TRUE(decodeRankState(bytes, &state).ok());
  state_layout::Table table;
  std::memcpy(&table, bytes.data() + state_layout::kTableOffset, sizeof(table));
  std::size_t end = 0;  // what follows is padding
  for (const auto& section : table.section) {
    end = std::max<std::size_t>(end, section.offset + section.entryBytes * section.entries);
  }
  const std::size_t head = state_layout::kTableOffset + sizeof(state_layout::Table);
  for (std::size_t size = 0; size < end; size += size < head ? 1 : 509) {
    EXPECT_FALSE(decodeRankState(std::string_view(bytes).substr(0, size), &state).ok()) << size;
  }
  EXPECT_TRUE(decodeRankState(std::string_view(bytes).substr(0, end), &state).ok());
}

TEST_F(StateDamageTest, EveryFlippedBitOfTheTableGivesAnErrorOrAState) {
  const std::string bytes = realFile();
  int accepted = 0;
  int tried = 0;
  const std::size_t used = 8 + state_layout::kSections * sizeof(state_layout::Table::Section);
  test::SampleSteps steps;
  for (std::size_t bit = 0; bit < used * 8; bit += steps.next(3)) {
    ++tried;
    std::string damaged = bytes;
    char& byte = damaged[state_layout::kTableOffset + bit / 8];
    byte = static_cast<char>(byte ^ (1 << bit % 8));
    RankState state;
    accepted += decodeRankState(damaged, &state).ok() ? 1 : 0;
  }
  EXPECT_LT(accepted, tried / 2) << "most damage of the table is noticed";
}

TEST_F(StateDamageTest, RandomWordsGiveAState) {
  const std::string bytes = realFile();
  const std::size_t head = state_layout::kTableOffset + sizeof(state_layout::Table);
  std::minstd_rand random(1);
  for (int i = 0; i < 200; ++i) {
    std::string damaged = bytes;
    for (int j = 0; j < 2000; ++j) {
      damaged[head + random() % (damaged.size() - head)] = static_cast<char>(random());
    }
    RankState state;
    EXPECT_TRUE(decodeRankState(damaged, &state).ok());
  }
}

TEST_F(StateDamageTest, IsNamedWithWhatWasExpected) {
  std::string bytes = realFile();
  RankState state;
  EXPECT_EQ(decodeRankState(bytes.substr(0, 4096), &state).message(),
            "black box: state: got 4096 bytes; expected at least " +
                std::to_string(state_layout::kTableOffset + sizeof(state_layout::Table)));
  bytes[state_layout::kTableOffset] = 9;
  EXPECT_EQ(decodeRankState(bytes, &state).message(),
            "black box: state: got version 9; expected version 1; read it with the release of "
            "Steptape that wrote it");
}

TEST_F(StateDamageTest, AFileOfAnotherLayoutIsReadAsFarAsItIsKnown) {
  std::string bytes = realFile();
  // A later version appends to the entries of a section, and adds one that is not known.
  state_layout::Table table;
  std::memcpy(&table, bytes.data() + state_layout::kTableOffset, sizeof(table));
  for (auto& section : table.section) {
    if (section.id == state_layout::kProgress) {
      const std::string entry =
          bytes.substr(static_cast<std::size_t>(section.offset), section.entryBytes);
      section.offset = bytes.size();
      section.entryBytes += 64;
      bytes += entry + std::string(64, 'x');
    }
  }
  table.section[table.sections++] = {99, 8, 4096, 1};
  std::memcpy(bytes.data() + state_layout::kTableOffset, &table, sizeof(table));
  RankState state;
  ASSERT_TRUE(decodeRankState(bytes, &state).ok());
  EXPECT_EQ(state.step, 3);
  EXPECT_EQ(state.logDirectories, std::vector<std::string>{"runs/a"});
}

}  // namespace
}  // namespace steptape::detail::process
