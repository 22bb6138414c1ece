// SPDX-License-Identifier: Apache-2.0
#include "checker/value_form.h"

#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <variant>
#include <vector>

#include "steptape/event/plugin_content.h"

#include "base/got_expected.h"
#include "event/value_metadata.h"
#include "reader/value_checks.h"

namespace steptape::detail {
namespace {

constexpr ReaderEffect kNone = ReaderEffect::kNone;
constexpr ReaderEffect kNote = ReaderEffect::kNote;
constexpr ReaderEffect kLoss = ReaderEffect::kLoss;

bool isOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  for (const std::string_view candidate : names) {
    if (name == candidate) {
      return true;
    }
  }
  return false;
}

/// Returns whether it is a plugin of the graph page, whose blobs may also be tensors of rank 0.
/// @source tensorboard/plugins/graph/metadata.py
bool isGraphPlugin(std::string_view name) {
  return isOneOf(name, {"graph_run_metadata", "graph_run_metadata_graph", "graph_keras_model"});
}

event::DataClass classOfPlugin(std::string_view name) {
  if (name == event::kScalarsPlugin) {
    return event::DataClass::kScalar;
  }
  if (isOneOf(name, {event::kHistogramsPlugin, event::kTextPlugin, event::kHparamsPlugin,
                     event::kPrCurvesPlugin, event::kMeshPlugin, event::kCustomScalarsPlugin})) {
    return event::DataClass::kTensor;
  }
  const bool isBlobs =
      isOneOf(name, {event::kImagesPlugin, event::kAudioPlugin}) || isGraphPlugin(name);
  return isBlobs ? event::DataClass::kBlobSequence : event::DataClass::kUnknown;
}

bool isKnown(event::DataClass dataClass) {
  return dataClass == event::DataClass::kScalar || dataClass == event::DataClass::kTensor ||
         dataClass == event::DataClass::kBlobSequence;
}

/// Returns the name of a tensor's element type for messages.
std::string typeText(event::TensorType type) {
  switch (type) {
    case event::TensorType::kFloat:
      return "DT_FLOAT";
    case event::TensorType::kDouble:
      return "DT_DOUBLE";
    case event::TensorType::kString:
      return "DT_STRING";
    default:
      return "type " + std::to_string(static_cast<std::int32_t>(type));
  }
}

/// Describes `data` for messages.
std::string formText(const event::Value::Data& data) {
  struct Text {
    std::string operator()(std::monostate) const { return "no value"; }
    std::string operator()(float) const { return "a simple_value"; }
    std::string operator()(const event::SummaryImage&) const { return "an image"; }
    std::string operator()(const event::SummaryHistogram& histogram) const {
      return "a histo of " + std::to_string(histogram.bucketLimits.size()) + " limits and " +
             std::to_string(histogram.bucketCounts.size()) + " counts";
    }
    std::string operator()(const event::SummaryAudio&) const { return "an audio"; }
    std::string operator()(const event::Tensor& tensor) const {
      return "a tensor of " + typeText(tensor.type) + " and shape " + shapeText(tensor.shape);
    }
  };
  return std::visit(Text(), data);
}

FormProblem formProblem(const CheckRule& rule, const event::Value& value,
                        const std::string& expected, const std::string& consequence) {
  return {rule, gotExpected(formText(value.data), expected) + ": " + consequence};
}

std::optional<FormProblem> checkScalar(const event::Value& value) {
  const auto* tensor = std::get_if<event::Tensor>(&value.data);
  if (std::holds_alternative<float>(value.data) ||
      (tensor != nullptr && tensor->type == event::TensorType::kFloat && tensor->shape.empty())) {
    return std::nullopt;
  }
  constexpr char kExpected[] = "DT_FLOAT and shape ()";
  if (tensor != nullptr && tensor->type == event::TensorType::kDouble && tensor->shape.empty()) {
    return formProblem({"double-scalar", kLoss, kNone}, value, kExpected,
                       "the fast data server leaves it out");
  }
  return formProblem({"value-form", kLoss, kNote}, value, kExpected,
                     "the fast data server leaves it out");
}

/// Returns the edges of a histogram's buckets as the fast data server sends them to the page: the
/// left and right edge of each bucket, from left to right.
/// @return false if the value does not have the form of a histogram.
bool takeEdges(const event::Value& value, std::vector<double>* edges) {
  if (const auto* found = std::get_if<event::SummaryHistogram>(&value.data)) {
    const std::size_t buckets = found->bucketCounts.size();
    if (buckets != found->bucketLimits.size()) {
      return false;
    }
    for (std::size_t i = 0; i < buckets; ++i) {
      edges->push_back(i == 0 ? found->min : found->bucketLimits[i - 1]);
      edges->push_back(i + 1 == buckets ? found->max : found->bucketLimits[i]);
    }
    return true;
  }
  const event::Tensor* tensor = nullptr;
  if (!findFloats(value, "histogram", &tensor).ok() || tensor->shape.size() != 2 ||
      tensor->shape[1] != 3) {
    return false;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor->shape[0]); ++i) {
    edges->push_back(floatAt(*tensor, 3 * i));
    edges->push_back(floatAt(*tensor, 3 * i + 1));
  }
  return true;
}

std::optional<FormProblem> checkHistogram(const event::Value& value) {
  std::vector<double> edges;
  if (!takeEdges(value, &edges)) {
    return formProblem({"value-form", kLoss, kLoss}, value,
                       "a tensor of DT_DOUBLE and shape (buckets, 3), or a count for each limit",
                       "the histogram is not shown, or wrongly");
  }
  for (std::size_t i = 1; i < edges.size(); ++i) {
    if (!(edges[i - 1] <= edges[i])) {
      // The Python loader drops empty buckets at both ends of a compatible value.
      const bool isCompatible = std::holds_alternative<event::SummaryHistogram>(value.data);
      return FormProblem{{"histogram-edges", kNote, isCompatible ? kNone : kNote},
                         "got edge " + std::to_string(edges[i]) + " after " +
                             std::to_string(edges[i - 1]) +
                             "; expected increasing edges: a bucket is drawn backwards"};
    }
  }
  return std::nullopt;
}

std::optional<FormProblem> checkTensor(const event::Value& value, const TagKind& kind) {
  const bool isTensor = std::holds_alternative<event::Tensor>(value.data);
  if (kind.plugin == event::kHistogramsPlugin &&
      (isTensor || std::holds_alternative<event::SummaryHistogram>(value.data))) {
    return checkHistogram(value);
  }
  // Both readers regard a metadata-only value, such as hyperparameters, as an empty tensor.
  if (isTensor || std::holds_alternative<std::monostate>(value.data)) {
    return std::nullopt;
  }
  return formProblem({"value-form", kLoss, kNote}, value, "a tensor",
                     "the fast data server leaves it out");
}

std::optional<FormProblem> checkBlobs(const event::Value& value, const TagKind& kind) {
  if (std::holds_alternative<event::SummaryImage>(value.data) ||
      std::holds_alternative<event::SummaryAudio>(value.data)) {
    return std::nullopt;
  }
  const auto* tensor = std::get_if<event::Tensor>(&value.data);
  const bool isStrings = tensor != nullptr && tensor->type == event::TensorType::kString;
  const std::size_t rank = isStrings ? tensor->shape.size() : 0;
  if (rank == 1 || (isStrings && rank == 0 && isGraphPlugin(kind.plugin))) {
    return std::nullopt;
  }
  if (kind.plugin == event::kAudioPlugin && rank == 2 && tensor->shape[1] == 2) {
    return kind.isDeclared ? formProblem({"audio-labels", kNone, kLoss}, value, "shape (clips)",
                                         "the Python loader does not play it")
                           : std::optional<FormProblem>();
  }
  constexpr char kExpected[] = "a tensor of DT_STRING and rank 1";
  if (kind.plugin == event::kImagesPlugin && isStrings) {
    return rank == 0 ? formProblem({"image-rank", kLoss, kLoss}, value, kExpected,
                                   "neither reader shows it")
                     : formProblem({"image-rank", kLoss, kNone}, value, kExpected,
                                   "the fast data server leaves it out");
  }
  return formProblem({"value-form", kLoss, kNote}, value, kExpected,
                     "the fast data server leaves it out");
}

}  // namespace

TagKind kindOf(const event::Value& value) {
  TagKind kind;
  if (value.metadata) {
    kind.plugin = value.metadata->pluginName;
    if (value.metadata->dataClass != event::DataClass::kUnknown) {
      kind.dataClass = value.metadata->dataClass;
      kind.isDeclared = true;
      return kind;
    }
  }
  if (const char* const plugin = detail::pluginOfField(value.data)) {
    kind.plugin = plugin;
  }
  kind.dataClass = classOfPlugin(kind.plugin);
  return kind;
}

std::optional<FormProblem> checkKind(const event::Value& value, const TagKind& kind) {
  if (!isKnown(kind.dataClass)) {
    const bool isUnnamed = kind.plugin.empty();
    return FormProblem{
        {isUnnamed ? "no-metadata" : "unknown-plugin", kLoss, kLoss},
        (isUnnamed ? "got no plugin with the tag's first value"
                   : "got plugin '" + kind.plugin + "' and no data class") +
            std::string("; expected one that TensorBoard knows: no page shows the tag")};
  }
  if (detail::pluginOfField(value.data) != nullptr && !kind.isDeclared && value.metadata &&
      detail::hasNames(*value.metadata)) {
    return FormProblem{
        {"unseen-name", kNote, kNone},
        "got " + formText(value.data) +
            " with a display name or description; expected a tensor or a data class: "
            "the fast data server shows neither"};
  }
  return std::nullopt;
}

std::optional<FormProblem> checkForm(const event::Value& value, const TagKind& kind) {
  switch (kind.dataClass) {
    case event::DataClass::kScalar:
      return checkScalar(value);
    case event::DataClass::kTensor:
      return checkTensor(value, kind);
    case event::DataClass::kBlobSequence:
      return checkBlobs(value, kind);
    case event::DataClass::kUnknown:
      break;
  }
  return std::nullopt;
}

}  // namespace steptape::detail
