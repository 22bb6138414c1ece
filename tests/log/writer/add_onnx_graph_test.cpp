// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <variant>

#include "steptape/base/status.h"
#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "log/writer/run_contents.h"
#include "support/expect_error.h"
#include "values/kinds/graph/onnx_graph.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

const std::string kModel = STEPTAPE_SOURCE_DIR "/tests/golden/resnet.onnx";

std::vector<std::string> graphsIn(const std::string& directory) {
  std::vector<std::string> graphs;
  for (const event::Event& event : eventsIn(directory)) {
    if (const auto* graph = std::get_if<event::GraphDef>(&event.what)) {
      graphs.push_back(graph->bytes);
    }
  }
  return graphs;
}

TEST(AddOnnxGraph, WritesTheGraphOfAFile) {
  const testing::TempDir directory;
  SummaryWriter writer(directory.string());
  GraphOptions options;
  options.wallTime = 1700000000.5;
  writer.addOnnxGraph(kModel, options);
  ASSERT_TRUE(writer.close().ok());
  EXPECT_EQ(graphsIn(directory.string()),
            std::vector<std::string>{
                event::encodeGraph(detail::values::onnxGraph(detail::events::readOnnxModel(kModel)))
                    .bytes});
  EXPECT_EQ(eventsIn(directory.string()).back().wallTime, 1700000000.5);
}

TEST(AddOnnxGraph, WritesNothingOfAForeignFile) {
  const testing::TempDir directory;
  SummaryWriter writer(directory.string());
  const std::string foreign = STEPTAPE_SOURCE_DIR "/tests/golden/torch.tfevents";
  test::expectInvalidArgument(
      [&] { writer.addOnnxGraph(foreign); },
      "addOnnxGraph \"" + foreign +
          "\": got a field numbered 0 at byte 3 of 920; expected a whole ONNX model");
  ASSERT_TRUE(writer.close().ok());
  EXPECT_TRUE(graphsIn(directory.string()).empty());
  EXPECT_TRUE(valuesIn(directory.string()).empty());
}

TEST(AddOnnxGraph, ReadsNothingForAWriterThatIsNotEnabled) {
  WriterOptions options;
  options.enabled = false;
  SummaryWriter writer("unused", options);
  EXPECT_NO_THROW(writer.addOnnxGraph("no such file"));
}

}  // namespace
}  // namespace steptape
