// SPDX-License-Identifier: Apache-2.0
//
// What is asked and refused, the lists, and scalars.
#include "server/provider/data_provider.h"

#include <limits>
#include <string>

#include "server/provider/provider_fixture.h"

namespace steptape::detail::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;

class DataProviderTest : public ProviderFixture {
 protected:
  /// Two runs with `loss` and `note`, and one of them with `acc`.
  void serveTwoRuns() {
    writeEvents("a/events.out.tfevents.1",
                {version(), simpleScalar("loss", 0.5F, 1), simpleScalar("loss", 0.25F, 9),
                 simpleScalar("acc", 1, 1), textAt(1, "note", "words")});
    writeEvents("b/events.out.tfevents.1",
                {version(), simpleScalar("loss", 4, 1), textAt(1, "note", "more")});
    serve();
  }
  Names scalarsIn(const pb::ListRequest& request) const {
    return entriesOf(get<pb::ListResponse>("ListScalars", request));
  }
  /// Expects the status of a request, for each call that takes it.
  template <typename Request>
  void expectRefused(const std::string& verb, const Request& request, StatusCode code,
                     const std::string& part) const {
    for (const char* kind : {"Scalars", "Tensors", "BlobSequences"}) {
      std::vector<std::string> messages;
      EXPECT_THAT(askBytes(verb + kind, request.SerializeAsString(), &messages),
                  IsStatus(code, part))
          << kind;
    }
  }
};

TEST_F(DataProviderTest, TellsTheLogDirectory) {
  serve();
  const auto response = get<pb::GetExperimentResponse>("GetExperiment", pb::GetExperimentRequest());
  EXPECT_EQ(response.data_location(), root_);
}

TEST_F(DataProviderTest, RefusesAnUnknownMethod) {
  serve();
  std::unique_ptr<Answer> answer;
  for (const char* method :
       {"", "ListRuns", "/tensorboard.data.TensorBoardDataProvider/",
        "/tensorboard.data.TensorBoardDataProvider/DeleteRuns", "/other.Service/ListRuns"}) {
    EXPECT_THAT(provider_->call(method, "", &answer),
                IsStatus(StatusCode::kUnimplemented, "got the unknown method"))
        << method;
  }
}

TEST_F(DataProviderTest, RefusesBytesThatAreNoMessage) {
  serve();
  for (const char* method :
       {"GetExperiment", "ListPlugins", "ListRuns", "ListScalars", "ReadScalars", "ListTensors",
        "ReadTensors", "ListBlobSequences", "ReadBlobSequences", "ReadBlob"}) {
    std::vector<std::string> messages;
    for (const std::string& bytes : {std::string("\x0A\x05"
                                                 "ab"),
                                     std::string(100, '\xFF'), std::string("\x0B")}) {
      EXPECT_THAT(askBytes(method, bytes, &messages),
                  IsStatus(StatusCode::kInvalidArgument, "no message of this call"))
          << method;
    }
  }
}

TEST_F(DataProviderTest, IsEmptyWithoutRuns) {
  serve();
  EXPECT_THAT(get<pb::ListRunsResponse>("ListRuns", pb::ListRunsRequest()).runs(), IsEmpty());
  EXPECT_THAT(get<pb::ListPluginsResponse>("ListPlugins", pb::ListPluginsRequest()).plugins(),
              IsEmpty());
  EXPECT_THAT(scalarsIn(listOf("scalars")), IsEmpty());
}

TEST_F(DataProviderTest, ListsRunsByTheirStart) {
  const auto startingAt = [](double wallTime) {
    event::Event event = version();
    event.wallTime = wallTime;
    return event;
  };
  writeEvents("a/events.out.tfevents.1", {startingAt(30)});
  writeEvents("b/events.out.tfevents.1", {startingAt(10)});
  writeEvents("d/events.out.tfevents.1", {startingAt(20)});
  writeEvents("c/events.out.tfevents.1", {startingAt(20)});
  writeBytes("without events/events.out.tfevents.1", "");
  serve();
  std::vector<std::pair<std::string, double>> runs;
  const auto response = get<pb::ListRunsResponse>("ListRuns", pb::ListRunsRequest());
  for (const auto& run : response.runs()) {
    runs.emplace_back(run.name(), run.start_time());
  }
  EXPECT_THAT(runs, ElementsAre(Pair("b", 10), Pair("c", 20), Pair("d", 20), Pair("a", 30)));
}

TEST_F(DataProviderTest, ListsPluginsOfShownTags) {
  writeEvents(kFirst, {version(), simpleScalar("x", 1, 1), textAt(1, "note", "words"),
                       tensorScalar("unknown", 1, 1, /*withMetadata=*/false)});
  serve();
  Names names;
  const auto response = get<pb::ListPluginsResponse>("ListPlugins", pb::ListPluginsRequest());
  for (const auto& plugin : response.plugins()) {
    names.push_back(plugin.name());
  }
  EXPECT_THAT(names, ElementsAre("scalars", "text"));
}

TEST_F(DataProviderTest, ListsScalarsInTheOrderOfNames) {
  serveTwoRuns();
  EXPECT_THAT(scalarsIn(listOf("scalars")), ElementsAre("a:acc", "a:loss", "b:loss"));
  EXPECT_THAT(scalarsIn(listOf("other")), IsEmpty());
  EXPECT_THAT(scalarsIn(listOf("text")), IsEmpty());
}

TEST_F(DataProviderTest, TellsTheLastStepAndTimeOfATag) {
  writeEvents(kFirst, {version(), simpleScalar("x", 1, 1), simpleScalar("x", 2, 7)});
  serve();
  const auto metadata =
      onlyEntry(get<pb::ListResponse>("ListScalars", listOf("scalars"))).metadata();
  EXPECT_EQ(metadata.max_step(), 7);
  EXPECT_EQ(metadata.max_wall_time(), 1007);
  event::SummaryMetadata summary;
  ASSERT_TRUE(events::decodeMetadata(metadata.summary_metadata(), &summary).ok());
  EXPECT_EQ(summary.pluginName, "scalars");
  EXPECT_EQ(summary.dataClass, event::DataClass::kScalar);
}

TEST_F(DataProviderTest, FiltersRunsAndTags) {
  serveTwoRuns();
  pb::ListRequest request = listOf("scalars");
  request.mutable_run_tag_filter();
  EXPECT_THAT(scalarsIn(request), SizeIs(3));
  request.mutable_run_tag_filter()->mutable_runs()->add_names("a");
  EXPECT_THAT(scalarsIn(request), ElementsAre("a:acc", "a:loss"));
  request.mutable_run_tag_filter()->mutable_tags()->add_names("loss");
  EXPECT_THAT(scalarsIn(request), ElementsAre("a:loss"));
  request.mutable_run_tag_filter()->clear_runs();
  EXPECT_THAT(scalarsIn(request), ElementsAre("a:loss", "b:loss"));
}

TEST_F(DataProviderTest, FindsNothingForAFilterWithoutNames) {
  serveTwoRuns();
  pb::ListRequest runs = listOf("scalars");
  runs.mutable_run_tag_filter()->mutable_runs();
  EXPECT_THAT(scalarsIn(runs), IsEmpty());
  pb::ListRequest tags = listOf("scalars");
  tags.mutable_run_tag_filter()->mutable_tags();
  EXPECT_THAT(scalarsIn(tags), IsEmpty());
}

TEST_F(DataProviderTest, IgnoresUnknownAndRepeatedNames) {
  serveTwoRuns();
  pb::ListRequest request = listOf("scalars");
  for (const char* name : {"missing", "b", "a", "b"}) {
    request.mutable_run_tag_filter()->mutable_runs()->add_names(name);
  }
  for (const char* name : {"note", "missing", "loss", "loss"}) {
    request.mutable_run_tag_filter()->mutable_tags()->add_names(name);
  }
  EXPECT_THAT(scalarsIn(request), ElementsAre("a:loss", "b:loss"));
}

TEST_F(DataProviderTest, AsksForThePlugin) {
  serveTwoRuns();
  expectRefused("List", pb::ListRequest(), StatusCode::kInvalidArgument,
                "got no plugin name; expected one");
  expectRefused("Read", pb::ReadRequest(), StatusCode::kInvalidArgument,
                "got no plugin name; expected one");
  expectRefused("List", listOf(""), StatusCode::kInvalidArgument,
                "got no plugin name; expected one");
}

TEST_F(DataProviderTest, AsksForTheNumberOfPoints) {
  serveTwoRuns();
  pb::ReadRequest request = readOf("scalars");
  request.clear_downsample();
  expectRefused("Read", request, StatusCode::kInvalidArgument,
                "got no downsample; expected the number of points");
  expectRefused("Read", readOf("scalars", -1), StatusCode::kInvalidArgument,
                "got num_points -1; expected at least 0");
}

TEST_F(DataProviderTest, ReadsScalars) {
  serveTwoRuns();
  pb::ReadRequest request = readOf("scalars");
  request.mutable_run_tag_filter()->mutable_runs()->add_names("a");
  request.mutable_run_tag_filter()->mutable_tags()->add_names("loss");
  EXPECT_THAT(readScalars(request), ElementsAre(Pair(1, 0.5F), Pair(9, 0.25F)));
}

TEST_F(DataProviderTest, ReadsStepsOfEveryMagnitude) {
  using Limits = std::numeric_limits<std::int64_t>;
  writeEvents(kFirst, {version(), simpleScalar("x", 1, Limits::min()), simpleScalar("x", 2, -1),
                       simpleScalar("x", 3, 0), simpleScalar("x", 4, 300),
                       simpleScalar("x", 5, Limits::max())});
  serve();
  EXPECT_THAT(readScalars(readOf("scalars")),
              ElementsAre(Pair(Limits::min(), 1), Pair(-1, 2), Pair(0, 3), Pair(300, 4),
                          Pair(Limits::max(), 5)));
}

TEST_F(DataProviderTest, ReadsNoMorePointsThanAsked) {
  std::vector<event::Event> events{version()};
  for (std::int64_t step = 0; step < 2000; ++step) {
    events.push_back(simpleScalar("x", step == 777 ? 9 : 1, step));
  }
  writeEvents(kFirst, events);
  serve();
  EXPECT_THAT(readScalars(readOf("scalars", 0)), IsEmpty());
  EXPECT_THAT(readScalars(readOf("scalars", 1)), ElementsAre(Pair(1999, 1)));
  EXPECT_THAT(readScalars(readOf("scalars", 3)),
              ElementsAre(Pair(0, 1), Pair(777, 9), Pair(1999, 1)));
  EXPECT_THAT(readScalars(readOf("scalars", 10'000)), SizeIs(1000)) << "the default limit";
  serve("scalars=all");
  EXPECT_THAT(readScalars(readOf("scalars", 10'000)), SizeIs(2000));
  EXPECT_THAT(readScalars(readOf("scalars", std::numeric_limits<std::int64_t>::max())),
              SizeIs(2000));
  serve("scalars=50");
  EXPECT_THAT(readScalars(readOf("scalars", 10'000)), SizeIs(50));
}

TEST_F(DataProviderTest, ReadsNumbersThatAPluginDeclaresAsScalars) {
  const auto number = [](std::int64_t step, float value) {
    return eventWith(step, withPlugin(tensorValue<float>("x", event::TensorType::kFloat, {value}),
                                      "mine", event::DataClass::kScalar));
  };
  writeEvents(kFirst, {version(), number(1, 0.5F), number(2, 0.25F)});
  serve();
  EXPECT_THAT(readScalars(readOf("mine")), ElementsAre(Pair(1, 0.5F), Pair(2, 0.25F)));
}

TEST_F(DataProviderTest, ReplacesWhatIsNotUtf8) {
  event::Value value =
      ofScalarsPlugin(tensorValue<float>("loss\xFF", event::TensorType::kFloat, {0.5F}));
  value.metadata->description = "loss of \xC3";
  writeEvents("run\xFF/events.out.tfevents.1", {version(), eventWith(1, value)});
  serve();
  const std::string replacement = "\xEF\xBF\xBD";
  const auto response = get<pb::ListResponse>("ListScalars", listOf("scalars"));
  EXPECT_THAT(entriesOf(response), ElementsAre("run" + replacement + ":loss" + replacement));
  event::SummaryMetadata metadata;
  ASSERT_TRUE(
      events::decodeMetadata(onlyEntry(response).metadata().summary_metadata(), &metadata).ok());
  EXPECT_EQ(metadata.description, "loss of " + replacement);
  pb::ReadRequest request = readOf("scalars");
  request.mutable_run_tag_filter()->mutable_runs()->add_names("run" + replacement);
  request.mutable_run_tag_filter()->mutable_tags()->add_names("loss" + replacement);
  EXPECT_THAT(readScalars(request), ElementsAre(Pair(1, 0.5F)));
  const auto runs = get<pb::ListRunsResponse>("ListRuns", pb::ListRunsRequest());
  ASSERT_EQ(runs.runs_size(), 1);
  EXPECT_EQ(runs.runs(0).name(), "run" + replacement);
}

TEST_F(DataProviderTest, RefusesAnAnswerThatTensorBoardDoesNotTake) {
  // One file of 8 MiB, which 40 links show as 40 runs.
  writeEvents("a/events.out.tfevents.1",
              {version(), textAt(1, "note", std::string(std::size_t{8} << 20, 'x'))});
  for (int run = 0; run < 40; ++run) {
    std::filesystem::create_directory_symlink("a", path("link" + std::to_string(run)));
  }
  serve();
  std::vector<std::string> messages;
  EXPECT_THAT(askBytes("ReadTensors", readOf("text").SerializeAsString(), &messages),
              IsStatus(StatusCode::kResourceExhausted,
                       "ReadTensors: the answer has more than 256 MiB, which TensorBoard does not "
                       "take; ask for fewer points"));
  pb::ReadRequest one = readOf("text");
  one.mutable_run_tag_filter()->mutable_runs()->add_names("link7");
  EXPECT_THAT(readTensors(one), SizeIs(1));
}

}  // namespace
}  // namespace steptape::detail::server
