// SPDX-License-Identifier: Apache-2.0
#include "steptape/log/run_reader.h"

#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/log/values.h"

#include "log/reader/run_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class RunReaderTest : public RunFixture {
 protected:
  /// Returns the `index`-th value of `tag`, read back.
  static event::Value valueOf(const RunReader& run, const std::string& tag, std::size_t index = 0) {
    event::Value value;
    const Status status = run.value(run.tags().at(tag).values.at(index), &value);
    EXPECT_TRUE(status.ok()) << status.message();
    return value;
  }
  static std::string textOf(const event::Value& value) {
    return std::get<event::Tensor>(value.data).strings.at(0);
  }
};

TEST_F(RunReaderTest, FindsNothingInAnEmptyDirectory) {
  RunReader run = readerOf();
  EXPECT_EQ(run.update(), 0u);
  EXPECT_THAT(run.tags(), IsEmpty());
  EXPECT_THAT(run.damage(), IsEmpty());
}

TEST_F(RunReaderTest, GivesScalarsAsColumns) {
  writeEvents(kFirst, {tensorScalar("loss", 2, 1), tensorScalar("loss", 1, 2, false)});
  const RunReader run = read();
  const TagSeries& loss = run.tags().at("loss");
  EXPECT_THAT(loss.scalars.wallTimes, ElementsAre(1001, 1002));
  EXPECT_THAT(loss.scalars.steps, ElementsAre(1, 2));
  EXPECT_THAT(loss.scalars.values, ElementsAre(2, 1));
  EXPECT_THAT(loss.values, IsEmpty());
  EXPECT_EQ(loss.metadata.pluginName, event::kScalarsPlugin);
}

TEST_F(RunReaderTest, ReadsBothFormsOfScalarsOfOneTag) {
  writeEvents(kFirst, {simpleScalar("loss", 3, 1), tensorScalar("loss", 2, 2)});
  EXPECT_THAT(points("loss"), ElementsAre(Pair(1, 3), Pair(2, 2)));
}

TEST_F(RunReaderTest, KeepsAllDigitsOfDoubles) {
  const event::Value value =
      ofScalarsPlugin(tensorValue<double>("loss", event::TensorType::kDouble, {0.1}));
  writeEvents(kFirst, {eventAt(1, event::Summary{{value}})});
  EXPECT_THAT(points("loss"), ElementsAre(Pair(1, 0.1)));
}

TEST_F(RunReaderTest, LocatesOtherValuesAndReadsThemBack) {
  const std::string file =
      writeEvents(kFirst, {textAt(1, "note", "first"), textAt(2, "note", "second", false)});
  const RunReader run = read();
  const TagSeries& note = run.tags().at("note");
  EXPECT_EQ(note.metadata.pluginName, event::kTextPlugin);
  EXPECT_EQ(note.scalars.size(), 0u);
  ASSERT_THAT(note.values, SizeIs(2));
  EXPECT_EQ(note.values[1].step, 2);
  EXPECT_EQ(note.values[1].wallTime, 1002);
  EXPECT_EQ(note.values[1].offset, framed({textAt(1, "note", "first")}).size());
  EXPECT_EQ(run.files().at(note.values[1].file), file);
  EXPECT_EQ(textOf(valueOf(run, "note", 0)), "first");
  EXPECT_EQ(textOf(valueOf(run, "note", 1)), "second");
}

TEST_F(RunReaderTest, ReadsBackTheRightOneOfSeveralValuesOfAnEvent) {
  event::Event event = textAt(1, "a", "of a");
  auto& values = std::get<event::Summary>(event.what).values;
  values.push_back(std::get<event::Summary>(textAt(1, "b", "of b").what).values.at(0));
  writeEvents(kFirst, {event});
  const RunReader run = read();
  EXPECT_EQ(textOf(valueOf(run, "a")), "of a");
  EXPECT_EQ(textOf(valueOf(run, "b")), "of b");
}

TEST_F(RunReaderTest, GivesValuesWithoutMetadataThePluginThatShowsThem) {
  writeEvents(
      kFirst,
      {eventAt(1, event::Summary{{{"image", event::SummaryImage{1, 1, 3, "png"}, std::nullopt},
                                  {"histogram", event::SummaryHistogram(), std::nullopt},
                                  {"audio", event::SummaryAudio(), std::nullopt},
                                  {"scalar", 1.0F, std::nullopt}}})});
  const RunReader run = read();
  EXPECT_EQ(run.tags().at("image").metadata.pluginName, event::kImagesPlugin);
  EXPECT_EQ(run.tags().at("histogram").metadata.pluginName, event::kHistogramsPlugin);
  EXPECT_EQ(run.tags().at("audio").metadata.pluginName, event::kAudioPlugin);
  EXPECT_EQ(run.tags().at("scalar").metadata.pluginName, event::kScalarsPlugin);
  EXPECT_EQ(std::get<event::SummaryImage>(valueOf(run, "image").data).encoded, "png");
}

TEST_F(RunReaderTest, KeepsTheMetadataOfTheFirstValueOnly) {
  event::Event first = tensorScalar("loss", 1, 1);
  std::get<event::Summary>(first.what).values[0].metadata->displayName = "Loss";
  event::Event later = tensorScalar("loss", 2, 2);
  std::get<event::Summary>(later.what).values[0].metadata->displayName = "Another name";
  std::get<event::Summary>(later.what).values[0].metadata->pluginName = event::kTextPlugin;
  writeEvents(kFirst, {first});
  writeEvents(kSecond, {later});
  const RunReader run = read();
  EXPECT_EQ(run.tags().at("loss").metadata.displayName, "Loss");
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1), Pair(2, 2)));
}

TEST_F(RunReaderTest, GivesNoTagTheMetadataOfAnotherInItsEvent) {
  event::Event event = simpleScalar("a", 1, 1);
  auto& values = std::get<event::Summary>(event.what).values;
  values[0].metadata.emplace();
  values[0].metadata->displayName = "the name of a";
  values.push_back({"b", 2.0F, std::nullopt});
  writeEvents(kFirst, {event});
  const RunReader run = read();
  EXPECT_EQ(run.tags().at("a").metadata.displayName, "the name of a");
  EXPECT_EQ(run.tags().at("b").metadata.displayName, "");
}

TEST_F(RunReaderTest, UsesTheMetadataOfAnEarlierFile) {
  writeEvents(kFirst, {tensorScalar("loss", 1, 1), textAt(1, "note", "first")});
  writeEvents(kSecond, {tensorScalar("loss", 2, 2, false), textAt(2, "note", "second", false)});
  const RunReader run = read();
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1), Pair(2, 2)));
  EXPECT_THAT(steps(run, "note"), ElementsAre(1, 2));
}

TEST_F(RunReaderTest, ClassifiesEarlierNumbersByLaterMetadata) {
  // The rest after the record with the metadata was damaged, and a restart wrote another one.
  writeEvents(kFirst, {version(), tensorScalar("loss", 1, 1, false),
                       tensorScalar("loss", 2, 2, false), tensorScalar("raw", 5, 1, false)});
  RunReader run = read();
  EXPECT_EQ(steps(run, "loss"), (std::vector<std::int64_t>{1, 2}));
  event::Event other = tensorScalar("raw", 6, 2);
  std::get<event::Summary>(other.what).values[0].metadata->pluginName = "tensor";
  writeEvents(kSecond, {version(), start(2), tensorScalar("loss", 20, 2), other});
  run.update();
  EXPECT_EQ(points(run, "loss"), (Points{{1, 1}, {2, 20}}));
  EXPECT_EQ(run.tags().at("loss").values.size(), 0U);
  EXPECT_EQ(steps(run, "raw"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(run.tags().at("raw").scalars.size(), 0U);
}

TEST_F(RunReaderTest, DoesNotTreatASingleNumberOfAnotherPluginAsScalar) {
  event::Event event = tensorScalar("bias", 1, 1);
  std::get<event::Summary>(event.what).values[0].metadata->pluginName = event::kHistogramsPlugin;
  writeEvents(kFirst, {event, tensorScalar("bias", 2, 2, false)});
  const RunReader run = read();
  EXPECT_THAT(points(run, "bias"), IsEmpty());
  EXPECT_THAT(steps(run, "bias"), ElementsAre(1, 2));
}

TEST_F(RunReaderTest, GivesTheScalarsOfATagWithAnotherKindOfValue) {
  const event::Value histogram{"layer", event::SummaryHistogram(), std::nullopt};
  const event::Value number{"layer", 0.5F, std::nullopt};
  writeEvents("scalar_first/" + std::string(kFirst),
              {eventAt(1, event::Summary{{number, histogram}}),
               eventAt(2, event::Summary{{number, histogram}})});
  writeEvents("histogram_first/" + std::string(kFirst),
              {eventAt(1, event::Summary{{histogram}}), eventAt(1, event::Summary{{number}}),
               eventAt(2, event::Summary{{histogram, number}})});
  RunReader run({".", path("scalar_first"), {}, true});
  run.update();
  EXPECT_THAT(points(run, "layer"), ElementsAre(Pair(1, 0.5), Pair(2, 0.5)));
  const TagSeries& layer = run.tags().at("layer");
  EXPECT_EQ(layer.metadata.pluginName, event::kScalarsPlugin);
  EXPECT_THAT(layer.values, IsEmpty());
  ASSERT_THAT(layer.others, SizeIs(1));
  EXPECT_EQ(layer.others.front().metadata.pluginName, event::kHistogramsPlugin);
  EXPECT_THAT(layer.others.front().values, SizeIs(2));

  RunReader other({".", path("histogram_first"), {}, true});
  other.update();
  EXPECT_THAT(points(other, "layer"), ElementsAre(Pair(1, 0.5), Pair(2, 0.5)));
  EXPECT_EQ(other.tags().at("layer").metadata.pluginName, event::kHistogramsPlugin);
  EXPECT_THAT(steps(other, "layer"), ElementsAre(1, 2));
}

TEST_F(RunReaderTest, GivesEachOfThreeKindsUnderOneTag) {
  event::Event number = tensorScalar("mix", 7, 3);
  writeEvents(
      kFirst,
      {version(), textAt(1, "mix", "hello"),
       eventAt(2, event::Summary{{{"mix", event::SummaryImage{1, 1, 3, "PNG"}, std::nullopt}}}),
       number, textAt(4, "mix", std::string(5000, 'x')), textAt(5, "mix", "of it", false)});
  const RunReader run = read();
  const TagSeries& mix = run.tags().at("mix");
  EXPECT_THAT(points(run, "mix"), ElementsAre(Pair(3, 7)));
  EXPECT_THAT(steps(run, "mix"), ElementsAre(1, 4, 5));
  ASSERT_THAT(mix.others, SizeIs(1));
  event::Value picture;
  ASSERT_TRUE(run.value(mix.others.front().values.at(0), &picture).ok());
  EXPECT_EQ(std::get<event::SummaryImage>(picture.data).encoded, "PNG");
}

TEST_F(RunReaderTest, LimitsThePluginsOfOneTag) {
  std::vector<event::Event> events;
  for (int i = 0; i < 20; ++i) {
    event::Event event = textAt(i, "many", "text");
    std::get<event::Summary>(event.what).values[0].metadata->pluginName = "p" + std::to_string(i);
    events.push_back(event);
  }
  writeEvents(kFirst, events);
  const RunReader run = read();
  const TagSeries& many = run.tags().at("many");
  EXPECT_THAT(many.others, SizeIs(8));
  EXPECT_EQ(many.size(), 20u);
}

TEST_F(RunReaderTest, ReadsIntegersBeyondThePrecisionOfADoubleRounded) {
  const auto event = [](std::int64_t number, std::int64_t step) {
    return eventAt(step, event::Summary{{ofScalarsPlugin(tensorValue<std::int64_t>(
                             "tokens", event::TensorType::kInt64, {number}))}});
  };
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  const std::string file = writeEvents(kFirst, {event(kExact, 1)});
  RunReader run = read();
  EXPECT_FALSE(run.tags().at("tokens").isRounded);
  append(kFirst, framed({event(kExact + 1, 2)}));
  run.update();
  EXPECT_EQ(points(run, "tokens"), (Points{{1, 0x1p53}, {2, 0x1p53}}));
  EXPECT_TRUE(run.tags().at("tokens").isRounded);
}

TEST_F(RunReaderTest, GivesNoScalarForATensorWithoutAValue) {
  event::Tensor empty;
  empty.type = event::TensorType::kFloat;
  writeEvents(kFirst, {tensorScalar("loss", 1, 1),
                       eventAt(2, event::Summary{{{"loss", empty, std::nullopt}}})});
  const RunReader run = read();
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1)));
  EXPECT_THAT(steps(run, "loss"), ElementsAre(2));
  event::Tensor tensor;
  EXPECT_EQ(decodeTensor(valueOf(run, "loss"), &tensor).message(),
            "tensor: got no value; expected one for the shape ()");
}

TEST_F(RunReaderTest, TakesFilesInTheOrderOfTheirNames) {
  writeEvents(kSecond, {simpleScalar("loss", 2, 2)});
  const std::string first = writeEvents(kFirst, {simpleScalar("loss", 1, 1)});
  const RunReader run = read();
  EXPECT_EQ(run.files().at(0), first);
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1), Pair(2, 2)));
}

TEST_F(RunReaderTest, ListsGraphsAndRunMetadataAsTags) {
  writeEvents(kFirst, {eventAt(0, event::GraphDef{"a graph"}),
                       eventAt(0, event::MetaGraphDef{"a meta graph"}),
                       eventAt(5, event::TaggedRunMetadata{"step 5", "what it took"})});
  const RunReader run = read();
  EXPECT_EQ(run.tags().at(kRunGraphTag).metadata.pluginName, kGraphsPlugin);
  EXPECT_EQ(textOf(valueOf(run, kRunGraphTag)), "a graph");
  EXPECT_EQ(run.tags().at(kMetaGraphTag).metadata.pluginName, kGraphsPlugin);
  EXPECT_EQ(textOf(valueOf(run, kMetaGraphTag)), "a meta graph");
  EXPECT_EQ(run.tags().at("step 5").metadata.pluginName, kTaggedRunMetadataPlugin);
  EXPECT_EQ(textOf(valueOf(run, "step 5")), "what it took");
}

TEST_F(RunReaderTest, CountsTheBytesItReads) {
  const std::string file = writeEvents(kFirst, {simpleScalar("loss", 1, 1)});
  RunReader run = readerOf();
  EXPECT_EQ(run.update(), std::filesystem::file_size(file));
  EXPECT_EQ(run.update(), 0u);
}

TEST_F(RunReaderTest, ReportsItsProgress) {
  std::string bytes;
  while (bytes.size() < (64 << 20)) {
    bytes += framed({textAt(1, "note", std::string(1 << 20, 'x'))});
  }
  writeBytes(kFirst, bytes);
  std::vector<std::uint64_t> progress;
  RunReaderOptions options;
  options.onProgress = [&](std::uint64_t read) { progress.push_back(read); };
  read(options);
  ASSERT_GE(progress.size(), 2u);
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
  EXPECT_LE(progress.back(), bytes.size());
}

TEST_F(RunReaderTest, RefusesToWorkWithoutAThread) {
  RunReaderOptions options;
  options.threads = 0;
  try {
    readerOf(options);
    FAIL() << "no thread is enough";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_STREQ(error.what(), "RunReaderOptions::threads: got 0; expected at least 1");
  }
}

TEST_F(RunReaderTest, GivesTheSameForAnyNumberOfThreads) {
  std::vector<event::Event> events;
  for (int step = 0; step < 30'000; ++step) {
    events.push_back(step % 1000 == 999 ? start(step - 10)
                                        : simpleScalar(step % 3 == 0 ? "a" : "b", 1, step));
  }
  writeEvents(kFirst, events);
  writeEvents(kSecond, {textAt(1, "note", "text"), simpleScalar("a", 2, 31'000)});
  RunReaderOptions threads;
  threads.threads = 4;
  const RunReader one = read();
  const RunReader four = read(threads);
  EXPECT_EQ(points(four, "a"), points(one, "a"));
  EXPECT_EQ(points(four, "b"), points(one, "b"));
  EXPECT_EQ(steps(four, "note"), steps(one, "note"));
  EXPECT_THAT(points(one, "a"), ::testing::Not(IsEmpty()));
}

class PurgeTest : public RunFixture {
 protected:
  void writeRestartedRun() const {
    writeEvents(kFirst, {version("brain.Event:2"), simpleScalar("loss", 1, 1),
                         simpleScalar("loss", 2, 2), simpleScalar("loss", 3, 3)});
    writeEvents(kSecond, {version("brain.Event:2"), start(2), simpleScalar("loss", 20, 2)});
    writeEvents(kThird, {version("brain.Event:2"), start(2), simpleScalar("loss", 200, 2)});
  }
};

TEST_F(PurgeTest, DiscardsAtEachRestartPointsThatItWritesAgain) {
  writeRestartedRun();
  EXPECT_THAT(points("loss", purging(PurgePolicy::kRestarts)),
              ElementsAre(Pair(1, 1), Pair(2, 200)));
}

TEST_F(PurgeTest, KeepsAllPointsAtTheFirstStartAsTensorBoardsServerDoes) {
  writeRestartedRun();
  EXPECT_THAT(points("loss", purging(PurgePolicy::kTensorBoardServer)),
              ElementsAre(Pair(1, 1), Pair(2, 200)));
  // The start in the first file is the first of the run, and the one after it is a restart.
  writeEvents(kThird, {});
  EXPECT_THAT(points("loss", purging(PurgePolicy::kTensorBoardServer)),
              ElementsAre(Pair(1, 1), Pair(2, 2), Pair(3, 3), Pair(2, 20)));
}

TEST_F(PurgeTest, KeepsEveryPointUnderPolicyNone) {
  writeRestartedRun();
  EXPECT_THAT(points("loss", purging(PurgePolicy::kNone)),
              ElementsAre(Pair(1, 1), Pair(2, 2), Pair(3, 3), Pair(2, 20), Pair(2, 200)));
}

TEST_F(PurgeTest, DropsValuesOfEveryPluginButNoGraph) {
  writeEvents(kFirst, {version("brain.Event:2"), eventAt(5, event::GraphDef{"graph"}),
                       textAt(4, "note", "kept"), textAt(5, "note", "dropped"), start(5)});
  const RunReader run = read();
  EXPECT_THAT(steps(run, "note"), ElementsAre(4));
  EXPECT_THAT(steps(run, kRunGraphTag), ElementsAre(5));
}

TEST_F(PurgeTest, AllowsADecreasingStepInFilesWithRestartEvents) {
  writeEvents(kFirst,
              {version("brain.Event:2"), simpleScalar("loss", 5, 5), simpleScalar("loss", 3, 3)});
  EXPECT_THAT(points("loss"), ElementsAre(Pair(5, 5), Pair(3, 3)));
}

TEST_F(PurgeTest, DiscardsLaterPointsOfATagWhenAStepDecreasesInOldFiles) {
  writeEvents(kFirst, {version("brain.Event:1"), simpleScalar("loss", 4, 4),
                       simpleScalar("other", 5, 5), simpleScalar("loss", 5, 5),
                       simpleScalar("loss", 30, 3), simpleScalar("loss", 40, 4)});
  const RunReader run = read();
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(3, 30), Pair(4, 40)));
  EXPECT_THAT(points(run, "other"), ElementsAre(Pair(5, 5)));
  EXPECT_THAT(points("loss", purging(PurgePolicy::kNone)), SizeIs(4));
}

TEST_F(PurgeTest, TreatsAFileWithADamagedVersionAsNew) {
  std::string bytes = framed({version(), simpleScalar("loss", 2, 2), simpleScalar("loss", 1, 1)});
  bytes.front() = static_cast<char>(~bytes.front());
  append(kFirst, bytes);
  EXPECT_THAT(points("loss"), ElementsAre(Pair(2, 2), Pair(1, 1)));
}

TEST_F(PurgeTest, SeesAStepGoBackFromOneUpdateToTheNext) {
  writeEvents(kFirst, {version("brain.Event:1"), simpleScalar("loss", 4, 4)});
  RunReader run = read();
  append(kFirst, framed({simpleScalar("loss", 30, 3)}));
  run.update();
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(3, 30)));
}

class SamplingTest : public RunFixture {
 protected:
  static RunReaderOptions tensorBoard() {
    RunReaderOptions options;
    options.sampling = Sampling::tensorBoard();
    return options;
  }
};

TEST_F(SamplingTest, KeepsAThousandScalarsAndTheLast) {
  std::vector<event::Event> events;
  for (int step = 0; step < 3000; ++step) {
    events.push_back(simpleScalar("loss", static_cast<float>(step), step));
  }
  writeEvents(kFirst, events);
  const Points kept = points("loss", tensorBoard());
  EXPECT_THAT(kept, SizeIs(1000));
  EXPECT_EQ(kept.back().first, 2999);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
}

TEST_F(SamplingTest, KeepsTenTextsAndTheLast) {
  std::vector<event::Event> events;
  for (int step = 0; step < 50; ++step) {
    events.push_back(textAt(step, "note", "text"));
  }
  writeEvents(kFirst, events);
  const std::vector<std::int64_t> kept = steps(read(tensorBoard()), "note");
  EXPECT_THAT(kept, SizeIs(10));
  EXPECT_EQ(kept.back(), 49);
}

TEST_F(SamplingTest, KeepsTheSamePointsHoweverOftenItIsUpdated) {
  std::vector<event::Event> events;
  for (int step = 0; step < 3000; ++step) {
    events.push_back(simpleScalar("loss", static_cast<float>(step), step));
  }
  writeEvents(kFirst, {});
  RunReader run = readerOf(tensorBoard());
  for (const event::Event& event : events) {
    append(kFirst, framed({event}));
    run.update();
  }
  EXPECT_EQ(points(run, "loss"), points("loss", tensorBoard()));
}

class SessionTest : public RunFixture {
 protected:
  static event::Event at(double wallTime, event::Event event) {
    event.wallTime = wallTime;
    return event;
  }
  /// Returns the begin and the end of each session.
  static std::vector<std::pair<double, double>> sessionsOf(const RunReader& run) {
    std::vector<std::pair<double, double>> sessions;
    for (const RunSession& session : run.sessions()) {
      sessions.emplace_back(session.begin, session.end);
    }
    return sessions;
  }
};

TEST_F(SessionTest, IsTheTimeFromTheFirstToTheLastEventOfAFile) {
  writeEvents(kFirst, {at(100, version()), at(101, simpleScalar("loss", 1, 0)),
                       at(107, textAt(1, "note", "text"))});
  EXPECT_THAT(sessionsOf(read()), ElementsAre(Pair(100, 107)));
}

TEST_F(SessionTest, EndsWhereAProgramEndedThatWasResumed) {
  writeEvents(kFirst, {at(100, version()), at(110, simpleScalar("loss", 1, 1))});
  writeEvents(kSecond,
              {at(500, version()), at(500, start(1)), at(520, simpleScalar("loss", 1, 1))});
  EXPECT_THAT(sessionsOf(read()), ElementsAre(Pair(100, 110), Pair(500, 520)));
}

TEST_F(SessionTest, IsOneForProgramsThatWriteAtTheSameTime) {
  writeEvents(kFirst, {at(100, version()), at(110, simpleScalar("loss", 1, 0))});
  writeEvents(kSecond, {at(105, version()), at(130, simpleScalar("lr", 1, 0))});
  writeEvents(kThird, {at(101, version()), at(102, simpleScalar("time", 1, 0))});
  EXPECT_THAT(sessionsOf(read()), ElementsAre(Pair(100, 130)));
}

TEST_F(SessionTest, GoesOnInTheNextFileOfItsProcess) {
  const std::string name = "events.out.tfevents.1700000000.node7.example.org.41.";
  writeEvents(name + "00000", {at(100, version()), at(110, simpleScalar("loss", 1, 0))});
  writeEvents(name + "00001.suffix", {at(115, version()), at(130, simpleScalar("loss", 1, 1))});
  EXPECT_THAT(sessionsOf(read()), ElementsAre(Pair(100, 130)));
}

TEST_F(SessionTest, IsNotThatOfAnotherStartWithTheSameProcessNumber) {
  for (const char* const seconds : {"1700000000", "1700000900"}) {
    const double begin = std::string(seconds) == "1700000000" ? 100 : 1000;
    writeEvents(std::string("events.out.tfevents.") + seconds + ".container.7.00000",
                {at(begin, version()), at(begin + 10, simpleScalar("loss", 1, 0))});
  }
  EXPECT_THAT(sessionsOf(read()), ElementsAre(Pair(100, 110), Pair(1000, 1010)));
}

TEST_F(SessionTest, GrowsWithItsFile) {
  writeEvents(kFirst, {at(100, version())});
  RunReader run = read();
  EXPECT_THAT(sessionsOf(run), ElementsAre(Pair(100, 100)));
  append(kFirst, framed({at(150, simpleScalar("loss", 1, 0))}));
  run.update();
  EXPECT_THAT(sessionsOf(run), ElementsAre(Pair(100, 150)));
}

TEST_F(SessionTest, IgnoresEventsWithoutATime) {
  writeEvents(kFirst, {at(0, version()), at(std::nan(""), simpleScalar("loss", 1, 0)),
                       at(100, simpleScalar("loss", 1, 1))});
  EXPECT_THAT(sessionsOf(read()), ElementsAre(Pair(100, 100)));
  writeEvents(kFirst, {at(0, version())});
  EXPECT_THAT(sessionsOf(read()), IsEmpty());
}

}  // namespace
}  // namespace steptape
