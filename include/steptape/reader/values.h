// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/event/custom_scalars_layout.h"
#include "steptape/event/event.h"
#include "steptape/event/plugin_content.h"

namespace steptape {

// What the values of each plugin mean, whichever form their writer chose:
//
//     const TagSeries& series = run.tags().at("weights");
//     Value value;
//     HistogramValue histogram;
//     Status status = run.value(series.values.back(), &value);
//     if (status.ok()) status = decodeHistogram(value, &histogram);
//
// Both forms are read: tensors, and the fields of the compatible form. Scalars need no decoding,
// TagSeries::scalars has their numbers. Records of hyperparameters are in the metadata, which
// decodeHparamsContent() decodes; a graph is the only string of its value.
//
// Every function below returns kDataLoss, and says what, got and wanted, if the value is not one of
// its plugin; its result is then unspecified. Shapes and sizes that a file claims are believed only
// as far as there are data: no more memory is taken than a small multiple of the value's own.
//
// All of them are thread-safe.

/// Pictures of one step, of the plugin `images`.
struct ImageValue {
  std::int64_t width = 0;            ///< @units Pixels, as noted by the writer.
  std::int64_t height = 0;           ///< @units Pixels, as noted by the writer.
  std::vector<std::string> encoded;  ///< A PNG, GIF or JPEG file for each picture.
};

/// @cost   Copies the files.
/// @source tensorboard/plugins/image/summary.py and tensorboard/data_compat.py at 2.21
STEPTAPE_EXPORT Status decodeImages(const event::Value& value, ImageValue* images);

/// Sounds of one step, of the plugin `audio`.
struct AudioValue {
  std::vector<std::string> encoded;  ///< A file for each clip.
  /// The media type of the files, such as "audio/wav"; "application/octet-stream" where nobody
  /// said.
  std::string contentType;
  // Of the compatible form only; otherwise the files alone know.
  std::optional<double> sampleRate;    ///< @units Hz
  std::optional<std::int64_t> frames;  ///< Samples of each channel.
  std::optional<std::int64_t> channels;
};

/// Labels, which older writers put beside each clip, are left out, as TensorBoard does.
///
/// @param metadata TagSeries::metadata: only a tag's first value has the media type with it.
/// @cost   Copies the files.
/// @source tensorboard/plugins/audio/summary.py and tensorboard/dataclass_compat.py at 2.21
STEPTAPE_EXPORT Status decodeAudio(const event::Value& value,
                                   const event::SummaryMetadata& metadata, AudioValue* audio);

/// Texts of one step, of the plugin `text`, in row-major order.
struct TextValue {
  std::vector<std::int64_t> shape;   ///< Empty for one text; else TensorBoard shows a table.
  std::vector<std::string> strings;  ///< Markdown, not necessarily UTF-8.
};

/// @source tensorboard/plugins/text/summary_v2.py at 2.21
STEPTAPE_EXPORT Status decodeText(const event::Value& value, TextValue* text);

/// How many numbers fell between two edges.
struct HistogramBucket {
  double left;
  double right;
  double count;
};

/// The distribution of one step, of the plugin `histograms`.
struct HistogramValue {
  std::vector<HistogramBucket> buckets;  ///< In ascending order; empty if nothing was counted.
};

/// Of a histogram of the compatible form the empty buckets at both ends are left out, and the outer
/// edges are its `min` and `max`: writers put limits up to 1.8e308 there.
///
/// @source tensorboard/plugins/histogram/summary_v2.py and tensorboard/data_compat.py at 2.21,
///         which rounds edges and counts of this form to binary32; here they stay exact.
STEPTAPE_EXPORT Status decodeHistogram(const event::Value& value, HistogramValue* histogram);

/// Counts and rates of one step at ascending thresholds, of the plugin `pr_curves`. All rows have
/// the same length; thresholds are spread evenly over [0, 1].
struct PrCurveValue {
  std::vector<double> truePositives;
  std::vector<double> falsePositives;
  std::vector<double> trueNegatives;
  std::vector<double> falseNegatives;
  std::vector<double> precision;
  std::vector<double> recall;
};

/// @source tensorboard/plugins/pr_curve/summary.py at 2.21
STEPTAPE_EXPORT Status decodePrCurve(const event::Value& value, PrCurveValue* curve);

/// One part of a mesh at one step, of the plugin `mesh`: a mesh is up to three series.
struct MeshValue {
  event::MeshPluginData
      mesh;               ///< Which part this is and of which mesh; its shape is the first step's.
  event::Tensor numbers;  ///< Of shape (batch, rows, 3).
};

/// @param metadata TagSeries::metadata, which says what the numbers are.
/// @source tensorboard/plugins/mesh/summary.py at 2.21
STEPTAPE_EXPORT Status decodeMesh(const event::Value& value, const event::SummaryMetadata& metadata,
                                  MeshValue* mesh);

/// The layout of the custom-scalars page, of the plugin `custom_scalars`.
///
/// @source tensorboard/plugins/custom_scalar/summary.py at 2.21
STEPTAPE_EXPORT Status decodeLayout(const event::Value& value, CustomScalarsLayout* layout);

/// The tensor of any plugin, as it is; a `simple_value` as one of rank 0.
///
/// @param tensor Has as many elements as its shape says, unless Steptape does not know its type.
STEPTAPE_EXPORT Status decodeTensor(const event::Value& value, event::Tensor* tensor);

}  // namespace steptape
