// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using testing::HasSubstr;

using Inspect = ToolFixture;

constexpr char kGoldenFile[] = STEPTAPE_SOURCE_DIR "/tests/golden/torch.tfevents";

TEST_F(Inspect, ShowsATable) {
  writeBytes("runs/demo/events.out.tfevents.1", smallFile());
  const Outcome outcome = steptape("inspect runs");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.out,
            "runs/demo: 1 file, 2 scalar tags, 3 points\n"
            "  tag       points  first step  last step  first value  last value\n"
            "  accuracy       1          20         20            1           1\n"
            "  loss           2           1         20          0.5        0.25\n");
}

TEST_F(Inspect, AlignsTagsThatAreNotAscii) {
  writeEvents("events.out.tfevents.1", {legacyScalar("fl\xc3\xa4"
                                                     "che",
                                                     1, 1),
                                        legacyScalar("volume", 1, 1)});
  EXPECT_THAT(steptape("inspect .").out, HasSubstr("\n  fl\xc3\xa4"
                                                   "che       1 "));
}

TEST_F(Inspect, ShowsEveryRun) {
  writeBytes("runs/b/events.out.tfevents.1", smallFile());
  writeBytes("runs/a/events.out.tfevents.1", framed({}));
  const Outcome outcome = steptape("inspect runs");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.out, HasSubstr("runs/a: 1 file, 0 scalar tags, 0 points\n"
                                     "runs/b: 1 file, 2 scalar tags, 3 points\n"));
}

TEST_F(Inspect, CountsWhatIsGivenTwiceOnce) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  writeBytes("runs/events.out.tfevents.2", smallFile());
  EXPECT_THAT(steptape("inspect runs runs/events.out.tfevents.1 runs/").out,
              HasSubstr("runs: 2 files, 2 scalar tags, 6 points\n"));
}

TEST_F(Inspect, ReadsTheFileOfAnotherWriter) {
  const Outcome outcome = steptape("inspect '" + std::string(kGoldenFile) + "'");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.out, HasSubstr("1 file, 4 scalar tags, 6 points\n"));
  EXPECT_THAT(outcome.out, HasSubstr("  loss/train       3           0          2            1    "
                                     "0.333333\n"));
}

TEST_F(Inspect, PrintsJson) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  const Outcome outcome = steptape("inspect --json runs");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.out,
            R"({"runs": [
{"run": "runs", "files": 1, "tags": [
{"tag": "accuracy", "points": 1, "first_step": 20, "last_step": 20, "first_value": 1, "last_value": 1},
{"tag": "loss", "points": 2, "first_step": 1, "last_step": 20, "first_value": 0.5, "last_value": 0.25}
], "problems": []}
]}
)");
}

TEST_F(Inspect, NamesADamagedFileAndItsOffset) {
  writeBytes("runs/events.out.tfevents.1", damagedFile());
  const Outcome outcome = steptape("inspect runs");
  EXPECT_EQ(outcome.exitCode, 1);
  const std::string offset = std::to_string(
      framed({legacyScalar("loss", 0.5F, 1), legacyScalar("loss", 0.25F, 20)}).size());
  EXPECT_THAT(outcome.error, HasSubstr("problem: data checksum mismatch: got 0x"));
  EXPECT_THAT(outcome.error,
              HasSubstr(" at offset " + offset + " of runs/events.out.tfevents.1\n"));
  EXPECT_THAT(outcome.out, HasSubstr("runs: 1 file, 1 scalar tag, 2 points\n"));
}

TEST_F(Inspect, PutsDamageIntoItsJson) {
  writeBytes("runs/events.out.tfevents.1", damagedFile());
  const Outcome outcome = steptape("inspect --json runs");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.out, HasSubstr(R"({"file": "runs/events.out.tfevents.1", "offset": )"));
  EXPECT_THAT(outcome.out, HasSubstr(R"("damaged": true, "message": "data checksum mismatch)"));
}

TEST_F(Inspect, TakesAFileThatIsStillWrittenForGood) {
  const std::string bytes = smallFile();
  writeBytes("runs/events.out.tfevents.1", bytes.substr(0, bytes.size() - 1));
  const Outcome outcome = steptape("inspect runs");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.error, HasSubstr("note: record cut short: got "));
  EXPECT_THAT(outcome.out, HasSubstr("runs: 1 file, 1 scalar tag, 2 points\n"));
}

}  // namespace
}  // namespace steptape
