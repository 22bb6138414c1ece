// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "steptape/ranks/testing.h"

#include "profile/trace/chrome/chrome_trace.h"
#include "profile/trace/gunzip.h"
#include "profile/trace/perfetto_rules.h"
#include "profile/trace/random_trace.h"
#include "profile/trace/sample_trace.h"
#include "support/content_of.h"
#include "support/small_disk.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

namespace fs = std::filesystem;

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

/// Returns the text of a trace's file, which is the same with and without compression.
std::string writtenText(const std::vector<Trace>& processes) {
  const testing::TempDir dir;
  const std::string path = dir.string() + "/trace.json";
  detail::profile::ChromeTraceOptions options;
  EXPECT_TRUE(detail::profile::writeChromeTrace(path, processes, options).ok());
  const std::string text = gunzipped(test::contentOf(path));
  options.compress = false;
  EXPECT_TRUE(detail::profile::writeChromeTrace(path, processes, options).ok());
  EXPECT_TRUE(test::contentOf(path) == text);
  return text;
}

/// Returns the file's JSON, after checking the rules.
json written(const std::vector<Trace>& processes) {
  const std::string text = writtenText(processes);
  EXPECT_THAT(brokenPerfettoRules(text), IsEmpty());
  return json::parse(text);
}
json written(const Trace& trace) {
  return written(std::vector<Trace>{trace});
}

std::vector<json> eventsWith(const json& file, const std::string& key, const json& value) {
  std::vector<json> events;
  for (const json& event : file["traceEvents"]) {
    if (event.contains(key) && event[key] == value) {
      events.push_back(event);
    }
  }
  return events;
}

json eventNamed(const json& file, const std::string& name) {
  const std::vector<json> events = eventsWith(file, "name", name);
  EXPECT_THAT(events, SizeIs(1)) << name;
  return events.empty() ? json() : events[0];
}

std::vector<std::string> namesWith(const json& file, const std::string& key, const json& value) {
  std::vector<std::string> names;
  for (const json& event : eventsWith(file, key, value)) {
    names.push_back(event["name"]);
  }
  return names;
}

TEST(ChromeWriter, KeepsPerfettosRules) {
  EXPECT_THAT(brokenPerfettoRules(writtenText({trainingTrace().trace()})), IsEmpty());
}

TEST(ChromeWriter, HasTheHeaderOfKineto) {
  Trace trace = trainingTrace().trace();
  trace.rank = 3;
  trace.worldSize = 4;
  const json file = written(trace);
  EXPECT_EQ(file["schemaVersion"], 1);
  EXPECT_EQ(file["distributedInfo"], json::parse(R"({"backend":"mpi","rank":3,"world_size":4})"));
  EXPECT_EQ(file["deviceProperties"], json::array());
  EXPECT_EQ(file["displayTimeUnit"], "ms");
  EXPECT_EQ(file["host_name"], "node1");
  EXPECT_EQ(file["profile_memory"], 1);
  EXPECT_THAT(std::string(file["traceName"]), HasSubstr("trace.json"));
}

TEST(ChromeWriter, WritesTheRankOnASeparateLineBeforeAllEvents) {
  Trace trace = trainingTrace().trace();
  trace.rank = 3;
  trace.metadata = {{"rank", "99"}};
  const std::string text = writtenText({trace});
  std::smatch match;
  ASSERT_TRUE(std::regex_search(text, match, std::regex(R"re("rank":\s+(\d+))re")));
  EXPECT_EQ(match[1], "3");
  EXPECT_THAT(text, HasSubstr("\n    \"rank\": 3,\n"));
}

TEST(ChromeWriter, CountsTimesFromABaseThatAllFilesOfAJobHave) {
  Trace trace = trainingTrace().trace();
  const json file = written(trace);
  trace.originNanos += 3'600'000'000'000;
  const json later = written(trace);
  EXPECT_EQ(file["baseTimeNanoseconds"], 227 * std::int64_t{7'889'238'000'000'000});
  EXPECT_EQ(later["baseTimeNanoseconds"], file["baseTimeNanoseconds"]);
  EXPECT_THAT(writtenText({trainingTrace().trace()}), HasSubstr("\"ts\":4493330848662.275,"));
}

TEST(ChromeWriter, WritesOperatorsAsKinetoDoes) {
  EXPECT_EQ(eventsWith(written(trainingTrace().trace()), "name", "aten::linear").at(0),
            json::parse(R"({"ph":"X","cat":"cpu_op","name":"aten::linear","pid":4242,"tid":4242,
      "ts":4493330848662.275,"dur":90.0,
      "args":{"External id":3,"Sequence number":5,"Fwd thread id":0,
              "Input Dims":[[64,784],[128,784],[128]],"Input type":["float","float","float"],
              "module":"fc1 \"quoted\"","flops":12845056,"bytes":602624}})"));
}

TEST(ChromeWriter, WritesAZonesColorAndValue) {
  const json zone = eventsWith(written(trainingTrace().trace()), "name", "load \"batch\"").at(0);
  EXPECT_EQ(zone["cat"], "user_annotation");
  EXPECT_EQ(zone["args"]["value"], 64.5);
  EXPECT_EQ(zone["args"]["color"], "#00FF7F");
  EXPECT_EQ(zone["args"]["kind"], "input");
}

TEST(ChromeWriter, WritesFurtherArguments) {
  const json span = eventsWith(written(trainingTrace().trace()), "name", "gloo:all_reduce").at(0);
  EXPECT_EQ(span["args"]["Group size"], 2);
  EXPECT_EQ(span["args"]["dtype"], "float");
}

TEST(ChromeWriter, WritesStepsOnTheThreadThatMadeThem) {
  const json file = written(trainingTrace().trace());
  const json step = eventNamed(file, "ProfilerStep#7");
  EXPECT_EQ(step["cat"], "user_annotation");
  EXPECT_EQ(step["ph"], "X");
  EXPECT_EQ(step["tid"], 4242);
  EXPECT_EQ(step["dur"], 400.0);
  EXPECT_EQ(eventNamed(file, "ProfilerStep#8")["ts"], 4493330849002.275);
}

TEST(ChromeWriter, DrawsArrowsFromOperatorsToTheirGradients) {
  const json file = written(trainingTrace().trace());
  const std::vector<json> begins = eventsWith(file, "ph", "s");
  const std::vector<json> ends = eventsWith(file, "ph", "f");
  ASSERT_THAT(eventsWith(file, "cat", "fwdbwd"), SizeIs(4));
  ASSERT_THAT(begins, SizeIs(3));  // the last one is of a launch
  ASSERT_THAT(ends, SizeIs(3));
  EXPECT_EQ(begins[0], json::parse(R"({"ph":"s","id":1,"pid":4242,"tid":4242,"cat":"fwdbwd",
                                       "name":"fwdbwd","ts":4493330848662.276})"));
  EXPECT_EQ(ends[0], json::parse(R"({"ph":"f","bp":"e","id":1,"pid":4242,"tid":4250,
                                     "cat":"fwdbwd","name":"fwdbwd","ts":4493330848802.285})"));
}

TEST(ChromeWriter, WritesDetachedSpansAsAsynchronous) {
  const json file = written(trainingTrace().trace());
  const std::vector<json> begins = eventsWith(file, "ph", "b");
  const std::vector<json> ends = eventsWith(file, "ph", "e");
  ASSERT_THAT(begins, SizeIs(2));
  ASSERT_THAT(ends, SizeIs(2));
  EXPECT_EQ(begins[0]["name"], "gloo:all_reduce");
  EXPECT_EQ(begins[0]["id"], ends[0]["id"]);
  EXPECT_NE(begins[0]["id"], begins[1]["id"]);
  EXPECT_EQ(ends[0]["name"], "gloo:all_reduce");
  EXPECT_EQ(ends[0]["cat"], begins[0]["cat"]);
  EXPECT_EQ(ends[0]["ts"], 4493330849122.275);
}

TEST(ChromeWriter, TakesSpansThatCrossAStepOutOfTheRow) {
  SampleTrace sample;
  sample.thread(1).step(0, 1000, 1000).step(1, 2000, 1000);
  sample.span("around all", SpanKind::kZone, 500, 3000);
  sample.span("around one", SpanKind::kZone, 600, 1400);
  sample.span("out of a step", SpanKind::kZone, 1500, 501);
  sample.span("up to its end", SpanKind::kZone, 1600, 400);
  sample.span("exactly one", SpanKind::kZone, 2000, 1000);
  sample.thread(2);
  sample.span("on another thread", SpanKind::kZone, 1500, 1000);
  sample.thread(3).step(7, 1000, 1000);
  sample.span("into a step", SpanKind::kZone, 500, 501);
  sample.span("out of all", SpanKind::kZone, 1999, 2);
  sample.span("behind all", SpanKind::kZone, 2001, 2);
  const json file = written(sample.trace());
  EXPECT_THAT(namesWith(file, "ph", "b"),
              ElementsAre("out of a step", "into a step", "out of all"));
  EXPECT_THAT(namesWith(file, "ph", "X"),
              UnorderedElementsAre("ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#7",
                                   "around all", "around one", "up to its end", "exactly one",
                                   "on another thread", "behind all"));
}

TEST(ChromeWriter, DrawsNoArrowToASpanOutOfTheRow) {
  SampleTrace sample;
  sample.thread(1).step(0, 1000, 1000);
  sample.span("aten::add", SpanKind::kOperator, 100, 10).sequence = 1;
  sample.span("AddBackward0", SpanKind::kBackward, 1500, 1000).sequence = 1;
  EXPECT_THAT(eventsWith(written(sample.trace()), "ph", "s"), IsEmpty());
}

TEST(ChromeWriter, WritesMemoryAsInstantsAndAsACounter) {
  const json file = written(trainingTrace().trace());
  EXPECT_EQ(eventsWith(file, "name", "[memory]").at(1),
            json::parse(R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]",
      "pid":4242,"tid":4250,"ts":4493330848822.275,
      "args":{"Total Reserved":0,"Total Allocated":512,"Bytes":-512,"Device Id":-1,
              "Device Type":0,"Addr":139637976731648}})"));
  const std::vector<json> ofCpu = eventsWith(file, "name", "memory of cpu");
  ASSERT_THAT(ofCpu, SizeIs(2));
  EXPECT_EQ(ofCpu[1]["ph"], "C");
  EXPECT_EQ(ofCpu[1]["args"], json::parse(R"({"allocated":512})"));
  EXPECT_EQ(eventNamed(file, "memory of cuda:0")["args"],
            json::parse(R"({"allocated":4096,"reserved":8192})"));
}

TEST(ChromeWriter, WritesCounters) {
  const json file = written(trainingTrace().trace());
  const std::vector<json> loss = eventsWith(file, "name", "loss");
  ASSERT_THAT(loss, SizeIs(2));
  EXPECT_EQ(loss[1]["args"]["value"], -0.25);
  EXPECT_EQ(loss[1]["ts"], 4493330849002.275);
}

TEST(ChromeWriter, NamesProcessesThreadsAndDevices) {
  const json file = written(trainingTrace().trace());
  EXPECT_THAT(eventsWith(file, "name", "process_name").at(0)["args"]["name"], "train");
  const std::vector<json> threads = eventsWith(file, "name", "thread_name");
  ASSERT_THAT(threads, SizeIs(3));
  EXPECT_EQ(threads[0]["args"]["name"], "main");
  EXPECT_EQ(threads[1]["args"]["name"], "autograd \\ 0");
  EXPECT_EQ(threads[2]["args"]["name"], "stream 7");
  EXPECT_EQ(threads[2]["pid"], 0);
  EXPECT_EQ(eventsWith(file, "name", "process_labels").at(1)["args"]["labels"], "GPU 0");
  const json kernel = eventNamed(file, "sgemm");
  EXPECT_EQ(kernel["cat"], "kernel");
  EXPECT_EQ(kernel["pid"], 0);
  EXPECT_EQ(kernel["tid"], 7);
  EXPECT_EQ(kernel["args"]["stream"], 7);
  EXPECT_EQ(kernel["args"]["device"], 0);
}

TEST(ChromeWriter, WritesHowManySpansAreMissing) {
  Trace trace = trainingTrace().trace();
  const json note = eventNamed(written(trace), "dropped 12 spans");
  EXPECT_EQ(note["ph"], "i");
  trace.dropped = 0;
  EXPECT_THAT(writtenText({trace}), ::testing::Not(HasSubstr("\"dropped ")));
}

TEST(ChromeWriter, WritesTheEndOfTheWindow) {
  EXPECT_EQ(eventNamed(written(trainingTrace().trace()), "Record Window End")["ts"],
            4493330849502.275);
}

TEST(ChromeWriter, WritesNamesOfAnyBytes) {
  SampleTrace sample;
  sample.thread(1, "th\"read\n");
  const std::string name =
      "a\"b\\c\nd\x01"
      "e\xff\xc3\xa9{}[],:";
  sample.span(name, SpanKind::kZone, 1, 1);
  sample.trace().hostName = "h\"ost";
  sample.trace().processName = "pro\"cess";
  EXPECT_THAT(namesWith(written(sample.trace()), "ph", "X"),
              ElementsAre("a\"b\\c\nd\x01"
                          "e\xef\xbf\xbd\xc3\xa9{}[],:"));
}

TEST(ChromeWriter, WritesAnEmptyTrace) {
  const json file = written(Trace());
  EXPECT_THAT(eventsWith(file, "ph", "X"), IsEmpty());
}

TEST(ChromeWriter, OmitsDuplicateMetadata) {
  Trace trace;
  trace.metadata = {{"traceEvents", "[]"}, {"host_name", "\"other\""}, {"a", "1"}, {"a", "2"}};
  trace.hostName = "node1";
  const std::string text = writtenText({trace});
  const json file = json::parse(text);
  EXPECT_EQ(file["host_name"], "node1");
  EXPECT_EQ(file["a"], 1);
}

// Facts of another format may be any text; one of them must not spoil the file.
TEST(ChromeWriter, WritesMetadataThatIsNoJsonAsAString) {
  Trace trace;
  trace.metadata = {
      {"bytes", "\b\x01\x10\x02"}, {"word", "NaN"}, {"open", "{\"a\": "}, {"number", "7"}};
  const json file = written(trace);
  EXPECT_EQ(file["bytes"], "\b\x01\x10\x02");
  EXPECT_EQ(file["word"], "NaN");
  EXPECT_EQ(file["open"], "{\"a\": ");
  EXPECT_EQ(file["number"], 7);
  EXPECT_EQ(eventNamed(file, "steptape_process")["args"]["metadata"]["word"], "NaN");
}

TEST(ChromeWriter, TakesDevicePropertiesFromTheMetadata) {
  Trace trace;
  trace.metadata = {{"deviceProperties", "[{\"id\": 0}]"}};
  EXPECT_EQ(written(trace)["deviceProperties"], json::parse("[{\"id\": 0}]"));
}

TEST(ChromeWriter, PutsSeveralProcessesSideBySide) {
  std::vector<Trace> processes;
  for (int rank = 0; rank < 3; ++rank) {
    Trace trace = trainingTrace().trace();
    trace.rank = rank % 2;  // two ranks are equal
    trace.worldSize = 3;
    trace.originNanos += rank;
    processes.push_back(trace);
  }
  const json file = written(processes);
  std::set<std::int64_t> hosts;
  std::set<std::int64_t> devices;
  for (const json& event : eventsWith(file, "ph", "X")) {
    (event["args"].contains("stream") ? devices : hosts).insert(event["pid"].get<std::int64_t>());
  }
  EXPECT_EQ(hosts, (std::set<std::int64_t>{0, 1, 2}));
  EXPECT_THAT(devices, SizeIs(3));
  EXPECT_FALSE(file["distributedInfo"].contains("rank"));
  EXPECT_EQ(eventsWith(file, "name", "process_labels").at(0)["args"]["labels"],
            "rank 0 of 3 on node1");
}

/// Returns the names that viewers show for the processes and devices of a file, with their labels.
std::vector<std::string> processesOf(const json& file) {
  const std::vector<json> names = eventsWith(file, "name", "process_name");
  const std::vector<json> labels = eventsWith(file, "name", "process_labels");
  std::vector<std::string> processes;
  for (std::size_t i = 0; i < names.size(); ++i) {
    processes.push_back(std::string(names[i]["args"]["name"]) + ": " +
                        std::string(labels.at(i)["args"]["labels"]));
  }
  return processes;
}

std::vector<Trace> twoRanks() {
  std::vector<Trace> processes(2, trainingTrace().trace());
  for (int rank = 0; rank < 2; ++rank) {
    Trace& trace = processes[static_cast<std::size_t>(rank)];
    trace.processName = "python3";
    trace.hostName = "";
    trace.rank = rank;
    trace.worldSize = 2;
  }
  return processes;
}

TEST(ChromeWriter, NamesProcessesByTheirRanks) {
  EXPECT_THAT(processesOf(written(twoRanks())),
              ElementsAre("rank 0: rank 0 of 2", "rank 0, GPU 0: GPU 0", "rank 1: rank 1 of 2",
                          "rank 1, GPU 0: GPU 0"));
}

TEST(ChromeWriter, NamesProcessesAlsoByWhatElseDiffers) {
  std::vector<Trace> processes = twoRanks();
  processes[1].processName = "python3, dead";
  processes[1].rank = 0;
  processes[1].hostName = "node2";
  EXPECT_THAT(processesOf(written(processes)),
              ElementsAre("rank 0, process 4242 (python3): rank 0 of 2", HasSubstr("GPU 0"),
                          "rank 0, process 4242 (python3, dead): rank 0 of 2 on node2",
                          HasSubstr("GPU 0")));
}

TEST(ChromeWriter, NamesProcessesWithoutARankByTheirIds) {
  std::vector<Trace> processes = twoRanks();
  for (Trace& trace : processes) {
    trace.rank = 0;
    trace.worldSize = 1;
    trace.threads.pop_back();
  }
  EXPECT_THAT(processesOf(written(processes)),
              ElementsAre("process 4242 (python3): CPU", "process 4242 (python3) #2: CPU"));
}

TEST(ChromeWriter, RefusesToWriteNoProcess) {
  const testing::TempDir dir;
  const Status status =
      detail::profile::writeChromeTrace(dir.string() + "/trace", ArrayView<const Trace>());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(fs::is_empty(dir.path()));
}

TEST(ChromeWriter, ReplacesAnExistingFile) {
  const testing::TempDir dir;
  const std::string path = dir.string() + "/trace.json.gz";
  std::ofstream(path) << "old";
  ASSERT_TRUE(detail::profile::writeChromeTrace(path, Trace()).ok());
  EXPECT_THAT(gunzipped(test::contentOf(path)), HasSubstr("traceEvents"));
}

TEST(ChromeWriter, ReportsWhyItCannotWrite) {
  const testing::TempDir dir;
  const std::string path = dir.string() + "/none/trace.json.gz";
  const Status status = detail::profile::writeChromeTrace(path, Trace());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::kIoError);
  EXPECT_EQ(status.message(), "cannot write " + path + ": No such file or directory");
}

TEST(ChromeWriter, RemovesTheFileOnAFullDisk) {
  const testing::TempDir dir;
  const std::string path = dir.string() + "/trace.json.gz";
  std::ofstream(path) << "old";
  SampleTrace sample;
  sample.thread(1);
  std::mt19937_64 random(1);
  for (std::int64_t i = 0; i < 20'000; ++i) {
    sample.span("zone " + std::to_string(random()), SpanKind::kZone, 10 * i, 5);
  }
  std::vector<Status> results;
  for (const bool compress : {true, false}) {
    const test::SmallDisk disk(100'000);
    detail::profile::ChromeTraceOptions options;
    options.compress = compress;
    results.push_back(detail::profile::writeChromeTrace(path, sample.trace(), options));
  }
  for (const Status& status : results) {
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.message(), "cannot write " + path + ": File too large");
  }
  EXPECT_EQ(test::contentOf(path), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator()), 1);
}

TEST(ChromeWriter, KeepsTheRulesForAnyTrace) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    ASSERT_THAT(brokenPerfettoRules(writtenText({randomTrace(seed)})), IsEmpty())
        << "seed " << seed;
  }
}

TEST(ChromeTraceFileName, IsTheOneByWhichViewersFindTraces) {
  Trace trace = trainingTrace().trace();
  EXPECT_EQ(detail::profile::chromeTraceFileName(trace),
            "node1_4242.1795350356848502275.pt.trace.json.gz");
  trace.rank = 3;
  trace.worldSize = 4;
  EXPECT_EQ(detail::profile::chromeTraceFileName(trace),
            "node1_rank00003_4242.1795350356848502275.pt.trace.json.gz");
  trace.hostName = "a/b";
  EXPECT_EQ(detail::profile::chromeTraceFileName(trace),
            "a_b_rank00003_4242.1795350356848502275.pt.trace.json.gz");
}

}  // namespace
}  // namespace steptape
