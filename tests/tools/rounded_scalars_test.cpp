// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kExact = std::int64_t{1} << 53;  // and no double equals the next integer

/// What each command that shows doubles says of integers that no double equals.
class RoundedScalars : public ToolFixture {
 protected:
  static event::Event tokens(std::int64_t number, std::int64_t step,
                             const std::string& tag = "tokens") {
    return eventAt(step, event::Summary{{ofScalarsPlugin(tensorValue<std::int64_t>(
                             tag, event::TensorType::kInt64, {number}))}});
  }
  static std::string noteOn(const std::string& tag) {
    return "note: " + tag +
           ": got integers that no double equals; they are rounded here. steptape export --format "
           "jsonl writes them exactly\n";
  }
};

TEST_F(RoundedScalars, AreNotedByEachCommandThatShowsDoubles) {
  writeEvents("a/events.out.tfevents.1", {tokens(kExact, 0), tokens(kExact + 1, 1)});
  writeEvents("b/events.out.tfevents.1", {tokens(kExact, 0), tokens(kExact, 1)});
  for (const std::string command :
       {"plot a", "plot a b --svg curves.svg", "tail a b --once", "tail a b --once --json",
        "diff a b", "diff b a --json", "aggregate a b --output mean"}) {
    SCOPED_TRACE(command);
    EXPECT_EQ(steptape(command).error, noteOn("tokens of a"));
  }
  EXPECT_EQ(steptape("inspect a").error, noteOn("tokens"));
}

TEST_F(RoundedScalars, AreNotNotedWhereNothingIsRounded) {
  writeEvents("a/events.out.tfevents.1", {tokens(-kExact, 0), tokens(kExact, 1)});
  writeEvents("b/events.out.tfevents.1",
              {tokens(7, 0), tokens(kExact + 1, 0, "other"), tokens(8, 1)});
  for (const std::string command :
       {"plot a b --tag tokens", "tail a b --once --tag tokens", "diff a b --tag tokens",
        "aggregate a b --output mean --tag tokens", "inspect a b --tag tokens"}) {
    SCOPED_TRACE(command);
    EXPECT_THAT(steptape(command).error, IsEmpty());
  }
}

TEST_F(RoundedScalars, AreNotedByTailIfItPrintsOne) {
  writeEvents("a/events.out.tfevents.1",
              {tokens(-kExact - 1, 0), tokens(1, 1), tokens(1, 2), tokens(1, 3)});
  EXPECT_THAT(steptape("tail a --once --lines 3").error, IsEmpty());
  EXPECT_THAT(steptape("tail a --once").error, HasSubstr(noteOn("tokens of a")));
}

}  // namespace
}  // namespace steptape
