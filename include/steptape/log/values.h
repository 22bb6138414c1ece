// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/events/event.h"
#include "steptape/events/plugin_content.h"

namespace steptape {

// Decodes the values of each plugin, in either form:
//
//     const TagSeries& series = run.tags().at("weights");
//     Value value;
//     HistogramValue histogram;
//     Status status = run.value(series.values.back(), &value);
//     if (status.ok()) status = decodeHistogram(value, &histogram);
//
// Scalars need no decoding: TagSeries::scalars has their numbers. Hyperparameters are in the
// metadata, which decodeHparamsContent() decodes. A graph is the only string of its value.
//
// Every function below returns kDataLoss, with what was got and expected, if the value does not
// have the form of its plugin; the result is then unspecified. Shapes and sizes in a file are
// checked against the data: decoding takes at most a small multiple of the memory of the value.
//
// All functions are thread-safe.

/// The images of one step, of the plugin `images`.
struct ImageValue {
  std::int64_t width = 0;            ///< @units Pixels, as the writer stored it.
  std::int64_t height = 0;           ///< @units Pixels, as the writer stored it.
  std::vector<std::string> encoded;  ///< A PNG, GIF or JPEG file for each image.
};

/// Decodes images.
///
/// @cost   Copies the files.
/// @source tensorboard/plugins/image/summary.py and tensorboard/data_compat.py at 2.21
STEPTAPE_EXPORT Status decodeImages(const event::Value& value, ImageValue* images);

/// The audio clips of one step, of the plugin `audio`.
struct AudioValue {
  std::vector<std::string> encoded;  ///< A file for each clip.
  /// The media type of the files, such as "audio/wav"; "application/octet-stream" if unknown.
  std::string contentType;
  // Set for the compatible form only.
  std::optional<double> sampleRate;    ///< @units Hz
  std::optional<std::int64_t> frames;  ///< Samples of each channel.
  std::optional<std::int64_t> channels;
};

/// Decodes audio clips. Leaves out the labels that older writers stored with each clip, as
/// TensorBoard does.
///
/// @param metadata TagSeries::metadata, which contains the media type.
/// @cost   Copies the files.
/// @source tensorboard/plugins/audio/summary.py and tensorboard/dataclass_compat.py at 2.21
STEPTAPE_EXPORT Status decodeAudio(const event::Value& value,
                                   const event::SummaryMetadata& metadata, AudioValue* audio);

/// The texts of one step, of the plugin `text`, in row-major order.
struct TextValue {
  std::vector<std::int64_t> shape;   ///< Empty for one text; else TensorBoard shows a table.
  std::vector<std::string> strings;  ///< Markdown, not necessarily UTF-8.
};

/// Decodes texts.
///
/// @source tensorboard/plugins/text/summary_v2.py at 2.21
STEPTAPE_EXPORT Status decodeText(const event::Value& value, TextValue* text);

/// The count of the values between two edges.
struct HistogramBucket {
  double left;
  double right;
  double count;
};

/// The distribution of one step, of the plugin `histograms`.
struct HistogramValue {
  std::vector<HistogramBucket> buckets;  ///< In ascending order; empty if there were no values.
};

/// Decodes a histogram. In the compatible form, leaves out the empty buckets at both ends, where
/// writers have limits up to 1.8e308; the outer edges are `min` and `max`.
///
/// @source tensorboard/plugins/histogram/summary_v2.py and tensorboard/data_compat.py at 2.21,
///         which rounds edges and counts of this form to binary32; here they are exact.
STEPTAPE_EXPORT Status decodeHistogram(const event::Value& value, HistogramValue* histogram);

/// The counts and rates of one step, of the plugin `pr_curves`. All vectors have the same length:
/// one element per threshold; thresholds increase evenly from 0 to 1.
struct PrCurveValue {
  std::vector<double> truePositives;
  std::vector<double> falsePositives;
  std::vector<double> trueNegatives;
  std::vector<double> falseNegatives;
  std::vector<double> precision;
  std::vector<double> recall;
};

/// Decodes a precision-recall curve.
///
/// @source tensorboard/plugins/pr_curve/summary.py at 2.21
STEPTAPE_EXPORT Status decodePrCurve(const event::Value& value, PrCurveValue* curve);

/// One part of a mesh at one step, of the plugin `mesh`. A mesh has up to three series.
struct MeshValue {
  /// The part and the mesh; the shape is that of the first step.
  event::MeshPluginData mesh;
  event::Tensor numbers;  ///< Of shape (batch, rows, 3).
};

/// Decodes a part of a mesh.
///
/// @param metadata TagSeries::metadata, which names the part.
/// @source tensorboard/plugins/mesh/summary.py at 2.21
STEPTAPE_EXPORT Status decodeMesh(const event::Value& value, const event::SummaryMetadata& metadata,
                                  MeshValue* mesh);

/// Decodes the layout of the custom-scalars page, of the plugin `custom_scalars`.
///
/// @source tensorboard/plugins/custom_scalar/summary.py at 2.21
STEPTAPE_EXPORT Status decodeLayout(const event::Value& value, CustomScalarsLayout* layout);

/// Copies the tensor of any plugin unchanged; a `simple_value` as a tensor of rank 0.
///
/// @param tensor Has the number of elements of its shape, unless its type is unknown to Steptape.
STEPTAPE_EXPORT Status decodeTensor(const event::Value& value, event::Tensor* tensor);

}  // namespace steptape
