// SPDX-License-Identifier: Apache-2.0
// What a writer tells about its curves.
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "log/writer/run_contents.h"
#include "log/writer/writer_fixture.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class CurveJudgeTest : public WriterFixture {
 protected:
  /// "rule of tag at step" of each finding.
  std::vector<std::string> findings() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return findings_;
  }
  WriterOptions judging() {
    WriterOptions options;
    options.onFinding = [this](const CurveFinding& finding) {
      const std::lock_guard<std::mutex> lock(mutex_);
      findings_.push_back(std::string(curveRuleName(finding.rule)) + " of " + finding.tag + " at " +
                          std::to_string(finding.step));
    };
    return options;
  }

  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

 private:
  std::mutex mutex_;
  std::vector<std::string> findings_;
};

TEST_F(CurveJudgeTest, TellsWhatItFindsWhileTheWriterIsOpen) {
  SummaryWriter writer = open(judging());
  writer.addScalar("loss", 1, 0);
  writer.addScalar("loss", kNan, 1);
  writer.addScalar("loss", kNan, 2);
  expectOk(writer.flush());
  // A pass of the background thread follows the flush.
  while (findings().empty()) {
    std::this_thread::yield();
  }
  expectOk(writer.close());
  EXPECT_THAT(findings(), ElementsAre("not-finite of loss at 1"));
}

TEST_F(CurveJudgeTest, NamesTheSubRun) {
  SummaryWriter writer = open(judging());
  writer.addScalars("loss", {{"train", kNan}, {"val", 1.0}}, 3);
  expectOk(writer.close());
  EXPECT_THAT(findings(), ElementsAre("not-finite of loss/train/loss at 3"));
}

TEST_F(CurveJudgeTest, NamesTheTagThatWasLoggedFirstOfAStep) {
  std::vector<std::string> messages;
  WriterOptions options;
  options.onFinding = [&](const CurveFinding& finding) {
    messages.push_back(finding.tag + ": " + finding.message);
  };
  SummaryWriter writer = open(std::move(options));
  for (const char* const tag : {"z_grad", "loss"}) {
    ScalarOptions atOneTime;
    atOneTime.wallTime = 1e9;
    writer.addScalar(tag, kNan, 3, atOneTime);
  }
  expectOk(writer.close());
  EXPECT_THAT(messages, ElementsAre("z_grad: got NaN at step 3; expected a finite number",
                                    "loss: got NaN at step 3; expected a finite number; the first "
                                    "that was not finite is z_grad at step 3"));
}

TEST_F(CurveJudgeTest, JudgesCurvesTogetherWhenTheWriterIsClosed) {
  SummaryWriter writer = open(judging());
  for (int step = 0; step < 200; ++step) {
    ScalarOptions options;
    options.wallTime = 1e9 + step;
    writer.addScalar("loss", 1.0 / (step + 1), step, options);
    if (step < 50) {
      writer.addScalar("grad_norm", 1 + step % 7, step, options);
    }
  }
  expectOk(writer.close());
  EXPECT_THAT(findings(), ElementsAre("stopped of grad_norm at 49"));
}

TEST_F(CurveJudgeTest, WritesAllPointsWhateverItFindsAndWhateverTheCallbackThrows) {
  WriterOptions options = judging();
  options.onFinding = [](const CurveFinding&) { throw 1; };
  SummaryWriter writer = open(std::move(options));
  for (int step = 0; step < 100; ++step) {
    writer.addScalar("loss", kNan, step);
  }
  expectOk(writer.close());
  EXPECT_THAT(scalarsIn(dir_.string())["loss"], SizeIs(100));
}

TEST_F(CurveJudgeTest, TakesTheRulesOfTheOptions) {
  WriterOptions options = judging();
  options.curveCheck.leftOut = {CurveRule::kNotFinite};
  SummaryWriter writer = open(std::move(options));
  writer.addScalar("loss", kNan, 0);
  expectOk(writer.close());
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(CurveJudgeTest, RefusesWrongRules) {
  WriterOptions options = judging();
  options.curveCheck.window = 0;
  test::expectError(ErrorCode::kInvalidArgument, "CurveCheckOptions::window: got 0",
                    [&] { open(options); });
}

}  // namespace
}  // namespace steptape
