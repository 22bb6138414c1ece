// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <utility>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"

#include "events/messages/onnx.h"
#include "events/messages/onnx_bytes.h"
#include "support/content_of.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::errorOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

using IntegerList = std::vector<std::int64_t>;

template <typename T>
const T& attribute(const detail::events::OnnxNode& node, const std::string& name) {
  for (const detail::events::OnnxAttribute& candidate : node.attributes) {
    if (candidate.name == name) {
      return std::get<T>(candidate.value);
    }
  }
  throw Error(ErrorCode::kInvalidArgument, "no attribute " + name);
}

std::string parseError(const std::string& bytes) {
  const Error error = errorOf([&] { detail::events::parseOnnxModel(bytes, "m"); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
  return error.what();
}

std::string readError(const std::string& path) {
  const Error error = errorOf([&] { detail::events::readOnnxModel(path); });
  EXPECT_EQ(error.code(), ErrorCode::kIoError) << error.what();
  return error.what();
}

/// Returns the message about a model "m" that has `got`.
std::string refusal(const std::string& got) {
  return "addOnnxGraph \"m\": got " + got + "; expected a whole ONNX model";
}

// Counts and names as the package onnx 1.23.2 reads them; see tests/golden/README.md.
TEST(OnnxReader, ReadsAModelOfPyTorch) {
  const detail::events::OnnxModel model =
      detail::events::readOnnxModel(goldenModelPath("resnet.onnx"));
  EXPECT_EQ(model.source, goldenModelPath("resnet.onnx"));
  EXPECT_EQ(model.irVersion, 8);
  EXPECT_EQ(model.producerName, "pytorch");
  EXPECT_EQ(model.producerVersion, "2.13.0");
  EXPECT_THAT(model.opsets, ElementsAre(std::make_pair(std::string(), std::int64_t{17})));
  EXPECT_EQ(model.graph.nodes.size(), 27U);
  EXPECT_EQ(model.graph.initializers.size(), 22U);

  ASSERT_EQ(model.graph.inputs.size(), 1U);
  EXPECT_EQ(model.graph.inputs[0].name, "image");
  EXPECT_EQ(model.graph.inputs[0].type, event::TensorType::kFloat);
  EXPECT_EQ(model.graph.inputs[0].shape, (event::GraphShape{-1, 3, 16, 16}));
  EXPECT_EQ(model.graph.initializers[0].name, "conv1.weight");
  EXPECT_EQ(model.graph.initializers[0].type, event::TensorType::kFloat);
  EXPECT_EQ(model.graph.initializers[0].shape, (event::GraphShape{4, 3, 3, 3}));

  const detail::events::OnnxNode& conv = model.graph.nodes[0];
  EXPECT_EQ(conv.name, "/conv1/Conv");
  EXPECT_EQ(conv.opType, "Conv");
  EXPECT_EQ(conv.domain, "");
  EXPECT_THAT(conv.inputs, ElementsAre("image", "conv1.weight", "conv1.bias"));
  EXPECT_THAT(conv.outputs, ElementsAre("/conv1/Conv_output_0"));
  EXPECT_EQ(attribute<std::int64_t>(conv, "group"), 1);
  EXPECT_THAT(attribute<IntegerList>(conv, "pads"), ElementsAre(1, 1, 1, 1));
  EXPECT_EQ(attribute<double>(model.graph.nodes.back(), "alpha"), 1.0);
}

TEST(OnnxReader, ReadsTheGraphsWithinOperators) {
  const detail::events::OnnxModel model =
      detail::events::readOnnxModel(goldenModelPath("control_flow.onnx"));
  ASSERT_EQ(model.graph.nodes.size(), 2U);
  EXPECT_EQ(attribute<std::string>(model.graph.nodes[0], "value"), "()");
  ASSERT_EQ(model.graph.nodes[1].attributes.size(), 1U);
  const detail::events::OnnxAttribute& body = model.graph.nodes[1].attributes[0];
  EXPECT_EQ(body.name, "body");
  ASSERT_EQ(body.graphs.size(), 1U);
  EXPECT_EQ(body.graphs[0].nodes.size(), 6U);
  EXPECT_EQ(body.graphs[0].inputs.size(), 3U);
  EXPECT_EQ(body.graphs[0].inputs[1].type, event::TensorType::kBool);
}

TEST(OnnxReader, ReadsEveryKindOfAttribute) {
  const auto attributeBytes = [](const char* name, std::uint64_t type, const std::string& value) {
    return bytesField(5, bytesField(1, name) + value + numberField(20, type));
  };
  const std::string one("\x00\x00\x80\x3F", 4);  // 1.0 as binary32
  const std::string tensor = numberField(1, 3) + numberField(1, 4);
  const detail::events::OnnxModel model = detail::events::parseOnnxModel(
      onnxModel(bytesField(
          1, attributeBytes("f", 1, "\x15" + one) + attributeBytes("s", 3, bytesField(4, "text")) +
                 attributeBytes("floats", 6, bytesField(7, one + one)) +
                 attributeBytes("ints", 7, numberField(8, 5) + numberField(8, 6)) +
                 attributeBytes("strings", 8, bytesField(9, "a") + bytesField(9, "b")) +
                 attributeBytes("t", 4, bytesField(5, tensor)) +
                 attributeBytes("tensors", 9, bytesField(10, tensor) + bytesField(10, "")) +
                 attributeBytes("sparse", 11, bytesField(22, numberField(3, 9))))),
      "m");
  const detail::events::OnnxNode& node = model.graph.nodes.at(0);
  EXPECT_EQ(attribute<double>(node, "f"), 1.0);
  EXPECT_EQ(attribute<std::string>(node, "s"), "text");
  EXPECT_THAT(attribute<std::vector<double>>(node, "floats"), ElementsAre(1.0, 1.0));
  EXPECT_THAT(attribute<IntegerList>(node, "ints"), ElementsAre(5, 6));
  EXPECT_THAT(attribute<std::vector<std::string>>(node, "strings"), ElementsAre("a", "b"));
  EXPECT_EQ(attribute<std::string>(node, "t"), "(3, 4)");
  EXPECT_THAT(attribute<std::vector<std::string>>(node, "tensors"), ElementsAre("(3, 4)", "()"));
  EXPECT_EQ(attribute<std::string>(node, "sparse"), "(9)");
}

TEST(OnnxReader, KnowsEveryTypeOfOnnx) {
  const detail::events::OnnxModel model =
      detail::events::readOnnxModel(goldenModelPath("low_bit.onnx"));
  std::map<std::string, std::pair<int, std::string>> types;
  for (const detail::events::OnnxValue& value : model.graph.initializers) {
    EXPECT_EQ(value.shape, event::GraphShape{5}) << value.name << ": elements, not bytes";
    types[value.name.substr(0, value.name.find('/'))] = {static_cast<int>(value.type),
                                                         value.otherType};
  }
  const std::pair<int, std::string> none{0, ""};
  for (const detail::events::OnnxValue& value : model.graph.inputs) {
    const auto type = std::make_pair(static_cast<int>(value.type), value.otherType);
    EXPECT_EQ(type, types[value.name.substr(0, value.name.find('/'))]) << value.name;
    EXPECT_NE(type, none) << value.name;
  }
  EXPECT_EQ(types.size(), 27U) << "all but UNDEFINED and STRING";
  EXPECT_EQ(types["FLOAT6E2M3"], std::make_pair(0, std::string("FLOAT6E2M3")));
  EXPECT_EQ(types["FLOAT6E3M2"], std::make_pair(0, std::string("FLOAT6E3M2")));
  EXPECT_EQ(types["FLOAT8E8M0"], std::make_pair(0, std::string("FLOAT8E8M0")));
  // The numbers of TensorFlow: DT_FLOAT4_E2M1FN, DT_INT2, DT_UINT4, DT_FLOAT8_E5M2 and DT_HALF.
  EXPECT_EQ(types["FLOAT4E2M1"].first, 33);
  EXPECT_EQ(types["INT2"].first, 31);
  EXPECT_EQ(types["UINT4"].first, 30);
  EXPECT_EQ(types["FLOAT8E5M2"].first, 24);
  EXPECT_EQ(types["FLOAT16"].first, 19);
}

TEST(OnnxReader, NamesATypeThatItDoesNotKnowByItsNumber) {
  const std::string tensor = numberField(1, 3) + numberField(2, 99) + bytesField(8, "w");
  const detail::events::OnnxModel model =
      detail::events::parseOnnxModel(onnxModel(bytesField(5, tensor)), "m");
  EXPECT_EQ(model.graph.initializers.at(0).otherType, "ONNX type 99");
}

TEST(OnnxReader, DistinguishesUnknownSizesFromUnknownRanks) {
  const std::string named =
      bytesField(1, bytesField(2, "batch")) + bytesField(1, numberField(1, 7));
  const detail::events::OnnxModel model = detail::events::parseOnnxModel(
      onnxModel(bytesField(11, onnxValueInfo("sizes", named)) +
                bytesField(11, onnxValueInfo("scalar", "")) +
                bytesField(13, bytesField(1, "rank") + bytesField(2, ""))),
      "m");
  EXPECT_EQ(model.graph.inputs.at(0).shape, (event::GraphShape{-1, 7}));
  EXPECT_EQ(model.graph.inputs.at(1).shape, event::GraphShape{});
  EXPECT_EQ(model.graph.valueInfos.at(0).shape, std::nullopt);
}

TEST(OnnxReader, KeepsTheBeginningOfALongText) {
  const std::string engine(100000, 'x');
  const std::string node = bytesField(5, bytesField(4, engine) + numberField(20, 3));
  const detail::events::OnnxModel model =
      detail::events::parseOnnxModel(onnxModel(bytesField(1, node)), "m");
  EXPECT_EQ(std::get<std::string>(model.graph.nodes.at(0).attributes.at(0).value),
            engine.substr(0, 1024));
}

// The weights are a hole in the file, which takes no space on the disk.
TEST(OnnxReader, SkipsWeightsLargerThanProtocolBuffersCanRead) {
  constexpr std::uint64_t kWeights = std::uint64_t{5} << 30;
  std::string tensor = numberField(1, kWeights) + bytesField(8, "w");
  detail::events::appendFieldKey(&tensor, 9, detail::events::WireType::kLengthDelimited);
  detail::events::appendVarint(&tensor, kWeights);
  std::string graph;
  detail::events::appendFieldKey(&graph, 5, detail::events::WireType::kLengthDelimited);
  detail::events::appendVarint(&graph, tensor.size() + kWeights);
  graph += tensor;
  std::string head = numberField(1, 8) + bytesField(8, numberField(2, 17));
  detail::events::appendFieldKey(&head, 7, detail::events::WireType::kLengthDelimited);
  detail::events::appendVarint(&head, graph.size() + kWeights);
  head += graph;

  const testing::TempDir directory;
  const std::string path = directory.string() + "/large.onnx";
  std::ofstream(path, std::ios::binary) << head;
  std::filesystem::resize_file(path, head.size() + kWeights);
  std::ofstream(path, std::ios::binary | std::ios::app) << bytesField(2, "after the weights");

  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  const detail::events::OnnxModel model = detail::events::readOnnxModel(path);
  rusage after{};
  getrusage(RUSAGE_SELF, &after);

  ASSERT_EQ(model.graph.initializers.size(), 1U);
  EXPECT_EQ(model.graph.initializers[0].name, "w");
  EXPECT_EQ(model.graph.initializers[0].shape, event::GraphShape{std::int64_t{kWeights}});
  EXPECT_EQ(model.producerName, "after the weights");
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 16 << 10) << "KiB";
}

TEST(OnnxReader, RejectsAModelTruncatedAnywhere) {
  const std::string whole = test::contentOf(goldenModelPath("control_flow.onnx"));
  ASSERT_GT(whole.size(), 1000U);
  EXPECT_NO_THROW(detail::events::parseOnnxModel(whole, "m"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(parseError(whole.substr(0, size)), EndsWith("; expected a whole ONNX model"))
        << size << " bytes";
  }
}

TEST(OnnxReader, RefusesForeignFiles) {
  EXPECT_EQ(parseError(""), refusal("IR version 0"));
  EXPECT_EQ(parseError("\x89PNG\r\n\x1A\n"),
            refusal("a value of 8 bytes where 6 are left at byte 2 of 8"));
  EXPECT_EQ(parseError("# A text\n"), refusal("wire type 3 at byte 1 of 9"));
  EXPECT_EQ(parseError(test::contentOf(goldenModelPath("torch.tfevents"))),
            refusal("a field numbered 0 at byte 3 of 920"));
}

TEST(OnnxReader, RefusesModelsThatAreIncomplete) {
  EXPECT_EQ(parseError(numberField(1, 8) + bytesField(8, "")), refusal("no graph"));
  EXPECT_EQ(parseError(numberField(1, 8) + bytesField(7, "")), refusal("no operator set"));
  EXPECT_NO_THROW(detail::events::parseOnnxModel(numberField(1, 2) + bytesField(7, ""), "m"))
      << "the first versions of the format had no operator sets";
}

TEST(OnnxReader, RefusesMalformedFields) {
  EXPECT_EQ(parseError(onnxModel(numberField(1, 5))),
            refusal("field 1 of wire type 0 instead of 2 at byte 9 of 10"));
  EXPECT_EQ(parseError("\x08" + std::string(11, '\xFF')),
            refusal("a number that does not end at byte 11 of 12"));
  EXPECT_EQ(parseError(onnxModel(bytesField(1, bytesField(3, std::string(5000, 'n'))))),
            refusal("a name of 5000 bytes, more than 4096 at byte 15 of 5015"));
  EXPECT_EQ(parseError(onnxModel(bytesField(
                1, bytesField(5, bytesField(8, "\xFF"))))),  // a packed number that does not end
            refusal("a damaged list of numbers"));
}

TEST(OnnxReader, RefusesEndlessNesting) {
  std::string graph;
  for (int i = 0; i < 40; ++i) {
    graph = bytesField(1, bytesField(5, bytesField(6, graph)));
  }
  EXPECT_THAT(parseError(onnxModel(graph)),
              HasSubstr("got messages nested more than 90 deep at byte "));
}

TEST(OnnxReader, RefusesMoreStructureThanMemoryShouldHold) {
  std::string graph;
  for (int i = 0; i < 9'000'000; ++i) {
    graph.append("\x0A\x00", 2);  // an empty node
  }
  EXPECT_EQ(
      parseError(onnxModel(graph)),
      "addOnnxGraph \"m\": got more than 1024 MiB besides the tensors; expected at most 1024 MiB");
}

TEST(OnnxReader, ReportsWhyAFileCannotBeRead) {
  const testing::TempDir directory;
  const std::string missing = directory.string() + "/missing.onnx";
  EXPECT_EQ(readError(missing),
            "addOnnxGraph \"" + missing + "\": cannot read the file: No such file or directory");
  EXPECT_EQ(readError(directory.string()),
            "addOnnxGraph \"" + directory.string() +
                "\": cannot read the file: got a directory; expected a regular file");
  const std::string pipe = directory.string() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(readError(pipe),
            "addOnnxGraph \"" + pipe +
                "\": cannot read the file: got a special file; expected a regular file");
}

}  // namespace
}  // namespace steptape
