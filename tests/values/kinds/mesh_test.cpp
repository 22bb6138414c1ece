// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/plot/mesh.h"

#include <cstring>
#include <limits>

#include "support/expect_error.h"

namespace steptape {
namespace {

using test::expectInvalidArgument;
using Shape = std::vector<std::int64_t>;

template <typename T>
std::vector<T> elementsOf(const event::Tensor& tensor) {
  std::vector<T> elements(tensor.content.size() / sizeof(T));
  std::memcpy(elements.data(), tensor.content.data(), tensor.content.size());
  return elements;
}

class Mesh : public ::testing::Test {
 protected:
  static MeshOptions withColors(const TensorView& colors) {
    MeshOptions options;
    options.colors = colors;
    return options;
  }
  static MeshOptions withFaces(const TensorView& faces) {
    MeshOptions options;
    options.faces = faces;
    return options;
  }
  static MeshOptions withConfig(std::string json) {
    MeshOptions options;
    options.configJson = std::move(json);
    return options;
  }
  std::vector<std::uint8_t> colorBytes(const TensorView& colors) const {
    return elementsOf<std::uint8_t>(
        *detail::values::meshTensors(triangle_, withColors(colors)).colors);
  }

  const std::vector<float> coordinates_ = {0, 0, 0, 1, 0, 0, 0, 1, 0.5F};
  const TensorView triangle_ = TensorView(coordinates_.data(), {1, 3, 3});
};

TEST_F(Mesh, OfVerticesAloneIsAPointCloud) {
  const detail::values::MeshTensors mesh = detail::values::meshTensors(triangle_);
  EXPECT_EQ(mesh.vertices.type, event::TensorType::kFloat);
  EXPECT_EQ(mesh.vertices.shape, (Shape{1, 3, 3}));
  EXPECT_EQ(elementsOf<float>(mesh.vertices), coordinates_);
  EXPECT_FALSE(mesh.faces);
  EXPECT_FALSE(mesh.colors);
}

TEST_F(Mesh, WithoutABatchIsABatchOfOne) {
  EXPECT_EQ(detail::values::meshTensors(TensorView(coordinates_.data(), {3, 3})).vertices.shape,
            (Shape{1, 3, 3}));
}

TEST_F(Mesh, ConvertsVerticesOfAnyTypeAndStrides) {
  const std::vector<double> columns = {1, 2, 3, 4, 5, 6};
  const detail::values::MeshTensors mesh =
      detail::values::meshTensors(TensorView(columns.data(), {2, 3}, {1, 2}));
  EXPECT_EQ(elementsOf<float>(mesh.vertices), (std::vector<float>{1, 3, 5, 2, 4, 6}));
}

TEST_F(Mesh, KeepsBytesAsColors) {
  const std::vector<std::uint8_t> colors = {0, 1, 2, 253, 254, 255, 128, 64, 32};
  const detail::values::MeshTensors mesh =
      detail::values::meshTensors(triangle_, withColors(TensorView(colors.data(), {1, 3, 3})));
  EXPECT_EQ(mesh.colors->type, event::TensorType::kUInt8);
  EXPECT_EQ(mesh.colors->shape, (Shape{1, 3, 3}));
  EXPECT_EQ(elementsOf<std::uint8_t>(*mesh.colors), colors);
}

TEST_F(Mesh, TakesIntegersUpTo255AsColors) {
  const std::vector<std::int64_t> colors = {0, 1, 2, 253, 254, 255, 128, 64, 32};
  EXPECT_EQ(colorBytes(TensorView(colors.data(), {3, 3})),
            (std::vector<std::uint8_t>{0, 1, 2, 253, 254, 255, 128, 64, 32}));
}

TEST_F(Mesh, ScalesFloatColorsAsImagesAre) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> colors = {0, 0.5F, 1, -1, 2, nan, 0.999F, 0.1F, 0.2F};
  EXPECT_EQ(colorBytes(TensorView(colors.data(), {1, 3, 3})),
            (std::vector<std::uint8_t>{0, 127, 255, 0, 255, 0, 254, 25, 51}));
  const bool bools[] = {true, false, true, false, true, false, true, true, true};
  EXPECT_EQ(colorBytes(TensorView(bools, {1, 3, 3})),
            (std::vector<std::uint8_t>{255, 0, 255, 0, 255, 0, 255, 255, 255}));
}

TEST_F(Mesh, NamesTheIntegerColorThatIsNotAByte) {
  const std::vector<int> colors = {0, 0, 0, 0, 256, 0, 0, 0, 0};
  expectInvalidArgument(
      [&] {
        colorBytes(TensorView(colors.data(), {1, 3, 3}));
      },
      "got colors[0, 1, 1] = 256; expected 0 to 255");
}

TEST_F(Mesh, StoresFacesAs32BitIntegers) {
  const std::vector<std::int64_t> faces = {0, 1, 2, 2, 1, 0};
  const detail::values::MeshTensors mesh =
      detail::values::meshTensors(triangle_, withFaces(TensorView(faces.data(), {1, 2, 3})));
  EXPECT_EQ(mesh.faces->type, event::TensorType::kInt32);
  EXPECT_EQ(mesh.faces->shape, (Shape{1, 2, 3}));
  EXPECT_EQ(elementsOf<std::int32_t>(*mesh.faces), (std::vector<std::int32_t>{0, 1, 2, 2, 1, 0}));
}

TEST_F(Mesh, NamesTheFaceWithoutItsVertex) {
  const std::vector<float> twoTriangles(18);
  const TensorView vertices(twoTriangles.data(), {2, 3, 3});
  std::vector<int> faces = {0, 1, 2, 2, 1, 0, 0, 1, 2, 0, 1, 3};
  expectInvalidArgument(
      [&] {
        detail::values::meshTensors(vertices, withFaces(TensorView(faces.data(), {2, 2, 3})));
      },
      "got faces[1, 1, 2] = 3; expected 0 to 2");
  faces[1] = -1;
  expectInvalidArgument(
      [&] {
        detail::values::meshTensors(vertices, withFaces(TensorView(faces.data(), {2, 2, 3})));
      },
      "got faces[0, 0, 1] = -1; expected 0 to 2");
}

TEST_F(Mesh, RejectsFacesThatAreNotIntegers) {
  expectInvalidArgument([&] { detail::values::checkMesh(triangle_, withFaces(triangle_)); },
                        "got faces of element type float32; expected an integer type");
}

TEST_F(Mesh, RejectsPointsThatAreNotInSpace) {
  expectInvalidArgument(
      [&] {
        detail::values::checkMesh(TensorView(coordinates_.data(), {4, 2}));
      },
      "got vertices of shape (4, 2); expected (batch, vertices, 3) or (vertices, 3)");
  expectInvalidArgument(
      [&] { detail::values::checkMesh(coordinates_); },
      "got vertices of shape (9); expected (batch, vertices, 3) or (vertices, 3)");
}

TEST_F(Mesh, RejectsAMeshOfNoVertices) {
  expectInvalidArgument(
      [&] {
        detail::values::checkMesh(TensorView(coordinates_.data(), {1, 0, 3}));
      },
      "got vertices of shape (1, 0, 3); expected at least one of the vertices");
}

TEST_F(Mesh, RejectsColorsOfAnotherShape) {
  expectInvalidArgument(
      [&] {
        detail::values::checkMesh(triangle_,
                                  withColors(TensorView(coordinates_.data(), {1, 2, 3})));
      },
      "got colors of shape (1, 2, 3); expected the vertices' shape (1, 3, 3)");
}

TEST_F(Mesh, RejectsFacesOfAnotherBatch) {
  const std::vector<int> faces(6);
  expectInvalidArgument(
      [&] {
        detail::values::checkMesh(triangle_, withFaces(TensorView(faces.data(), {2, 1, 3})));
      },
      "got faces of shape (2, 1, 3); expected a batch of 1 as in the vertices of shape (1, 3, 3)");
}

TEST_F(Mesh, RejectsWhatNoRecordHolds) {
  // One repeated element: a mesh that needs no memory until it is copied.
  const TensorView vertices(coordinates_.data(), {1, 150'000'000, 3}, {0, 0, 0});
  detail::values::checkMesh(vertices);
  const std::string message =
      "got vertices of shape (1, 150000000, 3) with their colors and faces; expected at most "
      "2146435072 bytes, since a record is below 2 GiB";
  expectInvalidArgument([&] { detail::values::checkMesh(vertices, withColors(vertices)); },
                        message);
}

TEST_F(Mesh, AcceptsAJsonObjectAsSettings) {
  for (const char* json : {"", "{}", " {\"camera\": {\"cls\": \"PerspectiveCamera\"}}\n",
                           R"({"a": "}\"]", "b": [1]})"}) {
    EXPECT_NO_THROW(detail::values::checkMesh(triangle_, withConfig(json))) << json;
  }
}

TEST_F(Mesh, RejectsSettingsThatAreNotAJsonObject) {
  for (const char* json : {" ", "null", "[]", "{", "{}}", "{]", "{\"a\": [}]", "{\"a}", "{} x"}) {
    expectInvalidArgument(
        [&] { detail::values::checkMesh(triangle_, withConfig(json)); },
        "got configJson = " + std::string(json) + "; expected a JSON object in UTF-8");
  }
  expectInvalidArgument([&] { detail::values::checkMesh(triangle_, withConfig("{\"\xff\": 1}")); },
                        "got configJson = {\"\xEF\xBF\xBD\": 1}; expected a JSON object in UTF-8");
}

TEST_F(Mesh, IsAValueForEachPart) {
  const std::vector<int> faces = {0, 1, 2};
  MeshOptions options = withColors(triangle_);
  options.faces = TensorView(faces.data(), {1, 1, 3});
  event::SummaryMetadata metadata;
  metadata.displayName = "Cloud";
  metadata.description = "of points";
  const std::vector<event::Value> values = detail::values::meshValues(
      "cloud", detail::values::meshTensors(triangle_, options), "", metadata);
  ASSERT_EQ(values.size(), 3U);
  EXPECT_EQ(values[0].tag, "cloud_VERTEX");
  EXPECT_EQ(values[1].tag, "cloud_FACE");
  EXPECT_EQ(values[2].tag, "cloud_COLOR");
  for (const event::Value& value : values) {
    EXPECT_EQ(value.metadata->pluginName, "mesh");
    EXPECT_EQ(value.metadata->dataClass, event::DataClass::kTensor);
    EXPECT_EQ(value.metadata->displayName, "Cloud");
    EXPECT_EQ(value.metadata->description, "of points");
  }
  // From TensorBoard 2.21's create_summary_metadata("cloud", None, FACE, 14, [1, 1, 3],
  // json_config="{}").
  EXPECT_EQ(values[1].metadata->pluginContent,
            "\x12\x05"
            "cloud\x18\x02*\x02{}2\x03\x01\x01\x03"
            "8\x0e");
}

TEST_F(Mesh, StoresItsParts) {
  const std::vector<event::Value> values = detail::values::meshValues(
      "cloud", detail::values::meshTensors(triangle_, withColors(triangle_)), R"({"a": 1})");
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[1].tag, "cloud_COLOR");
  // The bits of vertices, 2, and of colors, 8.
  EXPECT_EQ(values[0].metadata->pluginContent,
            "\x12\x05"
            "cloud\x18\x01*\x08{\"a\": 1}2\x03\x01\x03\x03"
            "8\x0a");
}

}  // namespace
}  // namespace steptape
