// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/plot/mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "steptape/events/plugin_content.h"

#include "base/element.h"
#include "base/utf8.h"
#include "values/kinds/image/color_math.h"
#include "values/kinds/reject.h"
#include "values/kinds/tensor/row_major_reader.h"

namespace steptape::detail::values {
namespace {

using Shape = std::vector<std::int64_t>;

/// Returns the shape of a part with its batch: (batch, rows, 3).
Shape batchedShape(const char* part, const TensorView& view) {
  Shape shape = view.shape();
  if (shape.size() == 2) {
    shape.insert(shape.begin(), 1);
  }
  if (shape.size() != 3 || shape[2] != 3) {
    base::reject(std::string(part) + " of shape " + view.shapeString(),
                 std::string("(batch, ") + part + ", 3) or (" + part + ", 3)");
  }
  if (view.numel() == 0) {
    base::reject(std::string(part) + " of shape " + view.shapeString(),
                 "at least one of the " + std::string(part));
  }
  return shape;
}

/// Returns whether the text is one `{...}` in which every bracket and string ends. TensorBoard
/// passes it unchanged to the browser, which shows no mesh if the text is anything else.
bool isJsonObject(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos || text[begin] != '{') {
    return false;
  }
  std::string closing;  // closing brackets for the open ones
  bool inString = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (inString) {
      inString = c != '"';
      i += c == '\\' ? 1 : 0;
    } else if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      closing += c == '{' ? '}' : ']';
    } else if (c == '}' || c == ']') {
      if (closing.back() != c) {
        return false;
      }
      closing.pop_back();
      if (closing.empty()) {
        return text.find_first_not_of(kSpace, i + 1) == std::string_view::npos;
      }
    }
  }
  return false;
}

void checkConfig(const std::string& json) {
  if (!json.empty() && (!base::isValidUtf8(json) || !isJsonObject(json))) {
    base::reject("configJson = " + base::replaceInvalidUtf8(json), "a JSON object in UTF-8");
  }
}

void checkColors(const TensorView& colors, const TensorView& vertices) {
  if (batchedShape("colors", colors) != batchedShape("vertices", vertices)) {
    base::reject("colors of shape " + colors.shapeString(),
                 "the vertices' shape " + vertices.shapeString());
  }
}

void checkFaces(const TensorView& faces, const TensorView& vertices) {
  if (base::isFloatingPoint(faces.dtype()) || faces.dtype() == DType::kBool) {
    base::reject("faces of element type " + std::string(dtypeName(faces.dtype())),
                 "an integer type");
  }
  const std::int64_t batch = batchedShape("vertices", vertices)[0];
  if (batchedShape("faces", faces)[0] != batch) {
    base::reject("faces of shape " + faces.shapeString(), "a batch of " + std::to_string(batch) +
                                                              " as in the vertices of shape " +
                                                              vertices.shapeString());
  }
}

/// Returns whether all parts together fit into one event.
bool fitsRecord(const TensorView& vertices, const MeshOptions& options) {
  // Not the product, which may overflow; the first condition limits the sum.
  const std::int64_t faceElements = options.faces ? options.faces->numel() : 0;
  if (std::max(vertices.numel(), faceElements) > kMaxPayload / 4) {
    return false;
  }
  const std::int64_t colorBytes = options.colors ? options.colors->numel() : 0;
  return 4 * vertices.numel() + 4 * faceElements + colorBytes <= kMaxPayload;
}

std::string position(const Shape& shape, std::int64_t index) {
  const std::int64_t row = index / 3;
  return "[" + std::to_string(row / shape[1]) + ", " + std::to_string(row % shape[1]) + ", " +
         std::to_string(index % 3) + "]";
}

/// Converts the elements in row-major order, block by block, so that no second copy of the tensor
/// is made.
///
/// @param convert Converts a `Wide` and its index to an element of the returned tensor.
template <typename Wide, typename Convert>
event::Tensor converted(const TensorView& view, event::TensorType type, Shape shape,
                        Convert&& convert) {
  using Element = decltype(convert(Wide(), std::int64_t()));
  event::Tensor tensor;
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.content.resize(static_cast<std::size_t>(view.numel()) * sizeof(Element));
  char* to = tensor.content.data();
  std::array<Wide, 1024> block;
  RowMajorReader<Wide> reader(view);
  for (std::int64_t first = 0; first < view.numel(); first += std::int64_t{block.size()}) {
    const auto count = std::min(view.numel() - first, std::int64_t{block.size()});
    reader.read(block.data(), count);
    for (std::int64_t i = 0; i < count; ++i, to += sizeof(Element)) {
      const Element element = convert(block[static_cast<std::size_t>(i)], first + i);
      std::memcpy(to, &element, sizeof(element));
    }
  }
  return tensor;
}

event::Tensor vertexTensor(const TensorView& vertices, std::uint64_t* notFinite) {
  return converted<float>(vertices, event::TensorType::kFloat, batchedShape("vertices", vertices),
                          [&](float coordinate, std::int64_t) {
                            *notFinite += std::isfinite(coordinate) ? 0 : 1;
                            return coordinate;
                          });
}

/// Returns a part of integers, which must all be in 0..`max`.
template <typename Integer>
event::Tensor integerTensor(const char* part, const TensorView& view, event::TensorType type,
                            std::int64_t max) {
  const Shape shape = batchedShape(part, view);
  // Integers that binary64 rounds are out of range in any case.
  return converted<double>(view, type, shape, [&](double number, std::int64_t index) {
    if (!(number >= 0 && number <= static_cast<double>(max))) {
      char text[32];
      std::snprintf(text, sizeof(text), "%.0f", number);
      base::reject(part + position(shape, index) + " = " + text, "0 to " + std::to_string(max));
    }
    return static_cast<Integer>(number);
  });
}

event::Tensor colorTensor(const TensorView& colors, UnshownElements* unshown) {
  if (!base::isFloatingPoint(colors.dtype()) && colors.dtype() != DType::kBool) {
    return integerTensor<std::uint8_t>("colors", colors, event::TensorType::kUInt8, 255);
  }
  return converted<float>(colors, event::TensorType::kUInt8, batchedShape("colors", colors),
                          [&](float color, std::int64_t) {
                            unshown->take(color);
                            return colorByte(color);
                          });
}

const char* suffixOf(event::MeshPart part) {
  switch (part) {
    case event::MeshPart::kVertex:
      return "_VERTEX";
    case event::MeshPart::kFace:
      return "_FACE";
    case event::MeshPart::kColor:
      return "_COLOR";
  }
  return "";
}

event::Value partValue(event::MeshPluginData data, event::MeshPart part, event::Tensor tensor,
                       event::SummaryMetadata metadata) {
  data.part = part;
  data.shape.assign(tensor.shape.begin(), tensor.shape.end());
  metadata.pluginName = event::kMeshPlugin;
  metadata.pluginContent = event::meshPluginContent(data);
  metadata.dataClass = event::DataClass::kTensor;
  return {data.name + suffixOf(part), std::move(tensor), std::move(metadata)};
}

}  // namespace

void checkMesh(const TensorView& vertices, const MeshOptions& options) {
  batchedShape("vertices", vertices);
  if (options.colors) {
    checkColors(*options.colors, vertices);
  }
  if (options.faces) {
    checkFaces(*options.faces, vertices);
  }
  if (!fitsRecord(vertices, options)) {
    base::reject(
        "vertices of shape " + vertices.shapeString() + " with their colors and faces",
        "at most " + std::to_string(kMaxPayload) + " bytes, since a record is below 2 GiB");
  }
  checkConfig(options.configJson);
}

MeshTensors meshTensors(const TensorView& vertices, const MeshOptions& options) {
  checkMesh(vertices, options);
  MeshTensors mesh;
  mesh.vertices = vertexTensor(vertices, &mesh.notFinite);
  if (options.faces) {
    mesh.faces = integerTensor<std::int32_t>("faces", *options.faces, event::TensorType::kInt32,
                                             mesh.vertices.shape[1] - 1);
  }
  if (options.colors) {
    mesh.colors = colorTensor(*options.colors, &mesh.unshown);
  }
  return mesh;
}

std::vector<event::Value> meshValues(const std::string& tag, MeshTensors mesh,
                                     const std::string& configJson,
                                     const event::SummaryMetadata& metadata) {
  std::vector<std::pair<event::MeshPart, event::Tensor>> parts;
  parts.emplace_back(event::MeshPart::kVertex, std::move(mesh.vertices));
  if (mesh.faces) {
    parts.emplace_back(event::MeshPart::kFace, std::move(*mesh.faces));
  }
  if (mesh.colors) {
    parts.emplace_back(event::MeshPart::kColor, std::move(*mesh.colors));
  }

  event::MeshPluginData data;
  data.name = tag;
  if (!configJson.empty()) {
    data.jsonConfig = configJson;
  }
  for (const auto& part : parts) {
    data.parts.push_back(part.first);
  }
  std::vector<event::Value> values;
  values.reserve(parts.size());
  for (auto& [part, tensor] : parts) {
    values.push_back(partValue(data, part, std::move(tensor), metadata));
  }
  return values;
}

}  // namespace steptape::detail::values
