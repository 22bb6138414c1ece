// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class RepairCommand : public ToolFixture {
 protected:
  /// smallFile() with bytes before its last record that belong to no record.
  static std::string damagedInside() { return before() + "damage" + behind(); }
  static std::string before() {
    return framed({simpleScalar("loss", 0.5F, 1), simpleScalar("loss", 0.25F, 20)});
  }
  static std::string behind() { return framed({simpleScalar("accuracy", 1, 20)}); }
};

TEST_F(RepairCommand, WritesANewFile) {
  writeBytes("tfevents.1", damagedInside());
  const Outcome outcome = steptape("repair tfevents.1 --output tfevents.2");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.out, MatchesRegex("tfevents.1: 3 records kept, 6 bytes left out\n"
                                        "  offset 84, 6 bytes: left out: length checksum mismatch: "
                                        "got 0x[0-9a-f]+; expected 0x[0-9a-f]+\n"
                                        "written: tfevents.2\n"));
  EXPECT_EQ(contentOf("tfevents.2"), smallFile());
  EXPECT_EQ(contentOf("tfevents.1"), damagedInside());
}

TEST_F(RepairCommand, RepairsInPlaceAndKeepsTheOriginal) {
  writeBytes("tfevents.1", damagedInside());
  EXPECT_THAT(steptape("repair tfevents.1 --in-place"),
              Prints(HasSubstr("/tf-events.1.damaged\n")));
  EXPECT_EQ(contentOf("tfevents.1"), smallFile());
  EXPECT_EQ(contentOf("tf-events.1.damaged"), damagedInside());
}

TEST_F(RepairCommand, ReportsThatThereIsNothingToRepair) {
  writeBytes("tfevents.1", smallFile());
  EXPECT_THAT(steptape("repair tfevents.1 --in-place"),
              Prints("tfevents.1: 3 records kept, 0 bytes left out\nnothing to repair\n"));
}

TEST_F(RepairCommand, NamesTheTagsWithRestoredMetadata) {
  const event::Value loss = tensorValue<float>("loss", event::TensorType::kFloat, {0.5F});
  const event::Value mesh = tensorValue<float>("mesh", event::TensorType::kFloat, {1, 2, 3});
  writeBytes("tfevents.1", "damage" + framed({eventAt(1, event::Summary{{loss, mesh}})}));
  const Outcome outcome = steptape("repair tfevents.1 --output tfevents.2");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.out,
              HasSubstr("1 record kept, 6 bytes left out, metadata of 1 tag restored\n"));
  EXPECT_THAT(outcome.out, HasSubstr("kept: metadata of 'loss' restored: plugin scalars, as the "
                                     "form of its values says\n"
                                     "  'mesh': metadata lost, so TensorBoard does not "
                                     "show the tag\n"
                                     "written: tfevents.2\n"));
}

TEST_F(RepairCommand, OverwritesOnlyIfForced) {
  writeBytes("tfevents.1", damagedInside());
  writeBytes("tfevents.2", "precious");
  const Outcome refused = steptape("repair tfevents.1 --output tfevents.2");
  EXPECT_EQ(refused.exitCode, 1);
  EXPECT_EQ(refused.out, "");
  EXPECT_EQ(refused.error, "steptape: cannot write tfevents.2: the file exists\n");
  EXPECT_EQ(contentOf("tfevents.2"), "precious");
  EXPECT_EQ(steptape("repair tfevents.1 --output tfevents.2 --force").exitCode, 0);
  EXPECT_EQ(contentOf("tfevents.2"), smallFile());
}

TEST_F(RepairCommand, RefusesTheDamagedFileAsOutput) {
  writeBytes("tfevents.1", damagedInside());
  EXPECT_THAT(
      steptape("repair tfevents.1 --output ./tfevents.1 --force"),
      Exits(2, HasSubstr(
                   "--output: got the damaged file itself; expected another file, or --in-place")));
  EXPECT_EQ(contentOf("tfevents.1"), damagedInside());
}

TEST_F(RepairCommand, RequiresAnOutput) {
  writeBytes("tfevents.1", damagedInside());
  EXPECT_EQ(steptape("repair tfevents.1").exitCode, 2);
  EXPECT_EQ(steptape("repair tfevents.1 --in-place --output tfevents.2").exitCode, 2);
  EXPECT_EQ(steptape("repair tfevents.1 --in-place --force").exitCode, 2);
}

TEST_F(RepairCommand, PrintsJson) {
  writeBytes("tfevents.1", damagedInside());
  EXPECT_THAT(
      steptape("repair tfevents.1 --output tfevents.2 --json"),
      Prints(MatchesRegex(R"(."file": "tfevents.1", "output": "tfevents.2", "original": "", )"
                          R"("records_kept": 3, "bytes_kept": 130, "bytes_left_out": 6, )"
                          R"("tags_restored": 0, "tags_without_metadata": .., "steps": .
."offset": 84, "bytes": 6, "left_out": true, "tag": "", "message": "length checksum mismatch: got .*".
., "more_steps": 0.
)")));
}

}  // namespace
}  // namespace steptape
