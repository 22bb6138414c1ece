// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using testing::HasSubstr;

using Export = ToolFixture;

constexpr char kSmallFileJson[] =
    "{\n"
    "\"runs/demo/accuracy\": [[1020, 20, 1]],\n"
    "\"runs/demo/loss\": [[1001, 1, 0.5], [1020, 20, 0.25]]\n"
    "}\n";

TEST_F(Export, WritesAFile) {
  writeBytes("runs/demo/events.out.tfevents.1", smallFile());
  const Outcome outcome = steptape("export runs/demo --format json --output scalars.json");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(contentOf("scalars.json"), kSmallFileJson);
}

TEST_F(Export, WritesToStandardOutput) {
  writeBytes("runs/demo/events.out.tfevents.1", smallFile());
  EXPECT_EQ(steptape("export runs/demo").out, kSmallFileJson);
}

TEST_F(Export, NamesCurvesByTheDirectoryOfTheirRun) {
  writeBytes("runs/demo/events.out.tfevents.1", smallFile());
  EXPECT_EQ(steptape("export runs").out, kSmallFileJson);
  EXPECT_EQ(steptape("export runs/demo/events.out.tfevents.1").out, kSmallFileJson);
}

TEST_F(Export, KeepsWhatJsonHasNoNumberFor) {
  writeEvents("events.out.tfevents.1",
              {legacyScalar("x", std::nanf(""), 1), legacyScalar("x", HUGE_VALF, -2)});
  EXPECT_EQ(steptape("export .").out,
            "{\n\"./x\": [[1001, 1, \"NaN\"], [998, -2, \"Infinity\"]]\n}\n");
}

TEST_F(Export, EscapesTags) {
  writeEvents("events.out.tfevents.1", {legacyScalar("a\"b\xff", 1, 1)});
  EXPECT_EQ(steptape("export .").out, "{\n\"./a\\\"b\xef\xbf\xbd\": [[1001, 1, 1]]\n}\n");
}

TEST_F(Export, IsAnObjectWithoutAnyScalar) {
  writeEvents("events.out.tfevents.1", {});
  EXPECT_EQ(steptape("export .").out, "{\n}\n");
}

TEST_F(Export, WritesWhatIsGoodOfADamagedFile) {
  writeBytes("runs/events.out.tfevents.1", damagedFile());
  const Outcome outcome = steptape("export runs --output scalars.json");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.error, HasSubstr("problem: data checksum mismatch"));
  EXPECT_EQ(contentOf("scalars.json"), "{\n\"runs/loss\": [[1001, 1, 0.5], [1020, 20, 0.25]]\n}\n");
}

TEST_F(Export, SaysWhichFileCannotBeWritten) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  const Outcome absent = steptape("export runs --output absent/scalars.json");
  EXPECT_EQ(absent.exitCode, 1);
  EXPECT_EQ(absent.error,
            "steptape: cannot write absent/scalars.json: No such file or directory\n");

  const Outcome full = steptape("export runs --output /dev/full");
  EXPECT_EQ(full.exitCode, 1);
  EXPECT_EQ(full.error, "steptape: cannot write /dev/full: No space left on device\n");
}

TEST_F(Export, KnowsOnlyJson) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  const Outcome outcome = steptape("export runs --format csv");
  EXPECT_EQ(outcome.exitCode, 2);
  EXPECT_THAT(outcome.error, HasSubstr("csv not in {json}"));
}

}  // namespace
}  // namespace steptape
