// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

namespace steptape::event {

// Names of TensorBoard's plugins in SummaryMetadata::pluginName.
// @source tensorboard/plugins/*/metadata.py at 2.21
inline constexpr char kScalarsPlugin[] = "scalars";
inline constexpr char kHistogramsPlugin[] = "histograms";
inline constexpr char kImagesPlugin[] = "images";
inline constexpr char kTextPlugin[] = "text";
inline constexpr char kAudioPlugin[] = "audio";
inline constexpr char kPrCurvesPlugin[] = "pr_curves";
inline constexpr char kMeshPlugin[] = "mesh";
inline constexpr char kCustomScalarsPlugin[] = "custom_scalars";
inline constexpr char kHparamsPlugin[] = "hparams";
inline constexpr char kTensorPlugin[] = "tensor";  // shown on no page; for readers

// The serialized messages of plugins in SummaryMetadata::pluginContent. Other plugins store
// nothing, or only version 0, which has no bytes.
// @source tensorboard/plugins/{audio,mesh,pr_curve}/plugin_data.proto at 2.21

/// Encodes the content of plugin `audio` for WAV files, which TensorBoard serves as `audio/wav`.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT std::string audioPluginContent();

/// Decodes the content of plugin `audio` of any writer.
///
/// @param isWav Set to whether the files are declared as WAV files; false if nothing is declared.
/// @return kDataLoss if `bytes` is not such a record; `*isWav` is then unspecified.
/// @threads Thread-safe.
STEPTAPE_EXPORT Status decodeAudioPluginContent(std::string_view bytes, bool* isWav);

/// Encodes the content of plugin `pr_curves`.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT std::string prCurvePluginContent(std::uint32_t numThresholds);

/// The part of a mesh that a tensor holds, with TensorBoard's numbers.
enum class MeshPart : std::int32_t { kVertex = 1, kFace = 2, kColor = 3 };

/// The content of plugin `mesh`, which stores a mesh as up to three series, one for each part.
struct MeshPluginData {
  std::string name;  ///< The tag of the mesh; tags of series consist of it and the part.
  MeshPart part = MeshPart::kVertex;
  std::vector<MeshPart> parts = {};      ///< All parts of the mesh, including `part`.
  std::vector<std::int32_t> shape = {};  ///< Shape of this part: (batch, rows, 3).
  std::string jsonConfig = "{}";         ///< THREE.js settings, a JSON object.
};

/// Encodes the content of plugin `mesh`.
///
/// @param data REQUIRES: `name` and `jsonConfig` are UTF-8; else TensorBoard's mesh page fails.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::string meshPluginContent(const MeshPluginData& data);

/// Decodes the content of plugin `mesh` of any writer. A record that does not list the parts of the
/// mesh means all three, as in TensorBoard.
///
/// @return kDataLoss if `bytes` is not such a record, or names an unknown part; `*data` is then
///         unspecified.
/// @threads Thread-safe.
STEPTAPE_EXPORT Status decodeMeshPluginContent(std::string_view bytes, MeshPluginData* data);

}  // namespace steptape::event

namespace steptape {

/// One chart of the custom-scalars page: lines, or values within bands.
struct CustomScalarsChart {
  std::string title;
  /// For a chart of lines: regular expressions of Python's `re`. Each matches from the first
  /// character of a tag, as `re.match` does: "loss" matches "loss/train", "loss$" does not.
  std::vector<std::string> tags;
  /// For a margin chart: the exact tags of value, lower and upper bound of each band.
  std::vector<std::array<std::string, 3>> margins;

  /// Returns a chart with a line for each tag that a regular expression of `tags` matches.
  STEPTAPE_EXPORT static CustomScalarsChart multiline(std::string title,
                                                      std::vector<std::string> tags);
  /// Returns a chart of one value within a band. `tags` are value, lower and upper bound.
  STEPTAPE_EXPORT static CustomScalarsChart margin(std::string title,
                                                   std::array<std::string, 3> tags);
};

/// A group of charts under one title, which can be folded.
struct CustomScalarsCategory {
  std::string title;
  std::vector<CustomScalarsChart> charts;
  bool closed = false;  ///< Folded until a click opens it.
};

/// The custom-scalars page of a run, from top to bottom.
struct CustomScalarsLayout {
  std::vector<CustomScalarsCategory> categories;
};

/// Encodes the layout as a serialized `tensorboard.Layout`.
///
/// @param layout REQUIRES: all texts are UTF-8; else TensorBoard rejects the layout. A chart with
///               margins is a margin chart; every other chart is a chart of lines.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/custom_scalar/layout.proto
STEPTAPE_EXPORT std::string encodeLayout(const CustomScalarsLayout& layout);

/// Decodes a layout of encodeLayout() or of another writer. Skips fields that the structs lack.
///
/// @return kDataLoss if `bytes` is not a layout; `*layout` is then unspecified.
/// @threads Thread-safe.
STEPTAPE_EXPORT Status decodeLayout(std::string_view bytes, CustomScalarsLayout* layout);

/// The value of a hyperparameter: a number, a bool or a text.
///
/// @threads Thread-compatible: const methods may run concurrently.
class HparamValue {
 public:
  /// Stores a bool as bool, and any other arithmetic type as double.
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  HparamValue(T value) {  // NOLINT(google-explicit-constructor)
    if constexpr (std::is_same_v<T, bool>) {
      value_ = value;
    } else {
      value_ = static_cast<double>(value);
    }
  }
  HparamValue(const char* text) : value_(std::string(text)) {}  // NOLINT(*-explicit-*)
  HparamValue(std::string text) : value_(std::move(text)) {}    // NOLINT(*-explicit-*)

  const std::variant<bool, double, std::string>& value() const { return value_; }

 private:
  std::variant<bool, double, std::string> value_;
};

/// Hyperparameters by name.
using Hparams = std::vector<std::pair<std::string, HparamValue>>;

/// How a session ended.
enum class SessionStatus { kSuccess = 1, kFailure = 2, kRunning = 3 };

/// One hyperparameter of an experiment record.
struct HparamInfo {
  std::string name;
  std::string displayName = {};
  std::string description = {};
  std::vector<HparamValue> discrete = {};  ///< The allowed values, all of one type.
  std::optional<std::pair<double, double>> interval = std::nullopt;  ///< Least and largest.
};

/// One metric of an experiment record.
struct HparamMetricInfo {
  std::string tag;  ///< The tag of the scalar.
  std::string displayName = {};
  std::string description = {};
};

/// The record that names the columns of a study. It must be the same in all runs of the study,
/// because TensorBoard uses that of an arbitrary run.
struct HparamsExperiment {
  std::string description = {};
  std::vector<HparamInfo> hparams = {};
  std::vector<HparamMetricInfo> metrics = {};
};

/// The record of the start of a run: one row of TensorBoard's table.
struct HparamsSessionStart {
  Hparams hparams = {};
  std::string groupName = {};  ///< Runs with the same name are repetitions of one trial.
  double startTime = 0;        ///< Seconds since 1970-01-01 UTC.
};

/// The record of the end of a run.
struct HparamsSessionEnd {
  SessionStatus status = SessionStatus::kSuccess;
  double endTime = 0;  ///< Seconds since 1970-01-01 UTC.
};

/// One record of the hparams plugin.
using HparamsContent = std::variant<HparamsExperiment, HparamsSessionStart, HparamsSessionEnd>;

/// Encodes a record as SummaryMetadata::pluginContent, where the plugin stores its data.
///
/// Texts are stored unchanged; TensorBoard rejects the record if one is not UTF-8. In an experiment
/// record, a hyperparameter has the type of its domain. Unless the domain is a single value, it is
/// marked as one that differs between runs, which TensorBoard shows first.
///
/// @threads Thread-safe.
/// @source  tensorboard/plugins/hparams/{plugin_data,api}.proto at 2.21
STEPTAPE_EXPORT std::string encodeHparamsContent(const HparamsContent& content);

/// Decodes a record of encodeHparamsContent() or of another writer. Leaves out values that are not
/// a number, a bool or a text.
///
/// @return kDataLoss if `bytes` is not such a record, or not of version 0; `*content` is then
///         unspecified.
/// @threads Thread-safe.
STEPTAPE_EXPORT Status decodeHparamsContent(std::string_view bytes, HparamsContent* content);

}  // namespace steptape
