// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/events/plugin_content.h"
#include "steptape/values/tensor_view.h"

namespace steptape {

// Options of the calls that record one value. Plain aggregates without base classes, so that both
// forms compile:
//
//   ScalarOptions o; o.displayName = "Loss";               // C++17
//   writer.addScalar("loss", x, step, {.displayName = "Loss"});  // C++20
//
// Every field has an initializer, since compilers warn if an omitted field has none.
//
// Three fields are common and come first:
//   wallTime     Seconds since 1970-01-01 UTC, stored exactly. Default: the time of the call.
//   displayName  Shown instead of the tag. TensorBoard reads it from the first value of a tag only.
//   description  Markdown beside the chart. Also read from the first value only.

/// Options of every value.
struct ValueOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
};
using ScalarOptions = ValueOptions;  ///< Options of addScalar() and addScalars().
using TextOptions = ValueOptions;    ///< Options of addText() and addTextTable().
using FigureOptions = ValueOptions;  ///< Options of addFigure().

/// The bucket edges of a histogram: the name of a rule, a number of buckets of equal width, or the
/// edges themselves.
///
///     options.bins = "fd";
///     options.bins = 50;
///     options.bins = {-1.0, 0.0, 0.5, 1.0};
///
/// - "tensorflow", the default: the fixed limits of TensorBoard, each 1.1 times the one before it.
/// - "auto", "fd", "sturges", "doane", "scott", "rice", "sqrt": the rule of numpy with this name
///   for the number of buckets of equal width from the least to the largest finite value.
/// - A count: this many buckets of equal width over the same range.
/// - Edges: as given; values outside are counted in one more bucket on each side.
///
/// A value on an edge belongs to the bucket on its right; on the last edge, to the last bucket. If
/// all values are equal, buckets of equal width extend 0.5 to each side.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @source  numpy.histogram_bin_edges, numpy 2.4. Floating-point tensors follow its treatment of
///          float64; integers and bool that of integers, where a rule never makes a bucket narrower
///          than 1.
class HistogramBins {
 public:
  /// The most buckets of a rule or a count: with one outlier, "fd" can ask for 10^30.
  static constexpr int kMaxCount = 65'536;

  HistogramBins() : HistogramBins("tensorflow") {}
  HistogramBins(const char* rule) : choice_(std::string(rule)) {}          // NOLINT(*-explicit-*)
  HistogramBins(std::string rule) : choice_(std::move(rule)) {}            // NOLINT(*-explicit-*)
  HistogramBins(int count) : choice_(count) {}                             // NOLINT(*-explicit-*)
  HistogramBins(std::vector<double> edges) : choice_(std::move(edges)) {}  // NOLINT(*-explicit-*)
  HistogramBins(std::initializer_list<double> edges) : choice_(std::vector<double>(edges)) {}

  const std::variant<std::string, int, std::vector<double>>& choice() const { return choice_; }

 private:
  std::variant<std::string, int, std::vector<double>> choice_;
};

/// A histogram that the caller has counted: the HistogramProto of TensorFlow.
///
/// Bucket i holds the values from bucketLimits[i - 1] (included) to bucketLimits[i] (excluded); the
/// first bucket begins at `min`, and the last one ends at `max`, both included.
struct HistogramRaw {
  double min = 0;  ///< Smallest value; 0 if there is none.
  double max = 0;  ///< Largest value; 0 if there is none.
  double num = 0;  ///< Number of values.
  double sum = 0;
  double sumSquares = 0;
  std::vector<double> bucketLimits = {};  ///< Right edge of each bucket, increasing.
  std::vector<double> bucketCounts = {};  ///< As long as bucketLimits.
};

/// Options of addHistogram() and addHistogramRaw().
struct HistogramOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  HistogramBins bins = {};  ///< Not used by addHistogramRaw().
  /// The most buckets; neighbors are merged to reach it. 0: no limit. Not used by
  /// addHistogramRaw().
  std::int64_t maxBins = 0;
};

/// Options of addImage().
struct ImageOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  /// Order of the dimensions: "CHW", "HWC", "HW" or any other order of these letters; without 'C'
  /// the image is gray.
  std::string dataFormat = "CHW";
};

/// Options of addImages().
struct ImagesOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  /// Order of the dimensions: "NCHW", "NHWC", "NHW" or any other order of these letters; without
  /// 'C' the images are gray.
  std::string dataFormat = "NCHW";
};

/// Options of addImageWithBoxes().
struct BoxOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  std::string dataFormat = "CHW";        ///< Order of the image's dimensions, as in ImageOptions.
  std::vector<std::string> labels = {};  ///< One per box, or none; empty labels are not drawn.
  double rescale = 1;                    ///< Scales the image and the boxes.
  /// RGB per box, or per distinct label in order of appearance. Empty: red.
  std::vector<std::array<std::uint8_t, 3>> colors = {};
};

/// Options of addVideo().
struct VideoOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  /// Order of the dimensions: "NTCHW" or any other order of these letters; without 'N' it is one
  /// video, without 'C' it is gray.
  std::string dataFormat = "NTCHW";
  double fps = 4;  ///< Frames per second, 0.01 to 1000.
};

/// The sample format of a WAV file.
enum class AudioEncoding {
  kPcm16,    ///< 16-bit integers, which every player supports.
  kFloat32,  ///< Unchanged, also outside [-1, 1].
};

/// Options of addAudio().
struct AudioOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  std::int64_t sampleRate = 44100;  ///< Frames per second.
  std::string dataFormat = "LC";    ///< "LC": (frames, channels); "CL". Rank 1 is mono.
  AudioEncoding encoding = AudioEncoding::kPcm16;
};

/// Options of addPrCurve() and addPrCurveRaw().
struct PrCurveOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  /// At least 2, evenly spaced from 0 to 1; not used by addPrCurveRaw(). More than 127, the limit
  /// of the Python writers, is allowed.
  std::int64_t numThresholds = 127;
  /// One per label, or one for all, 0 or more; not used by addPrCurveRaw(). TensorBoard truncates
  /// counts to integers when it shows them: scale the weights so that counts are well above 1.
  std::optional<TensorView> weights = std::nullopt;
};

/// A precision-recall curve that the caller has counted: one element per threshold, the first for
/// threshold 0 and the last for 1. TensorBoard's curve ends at the last threshold with a true or
/// false positive: precision is undefined after it.
struct PrCurveCounts {
  std::vector<double> truePositives = {};
  std::vector<double> falsePositives = {};
  std::vector<double> trueNegatives = {};
  std::vector<double> falseNegatives = {};
  std::vector<double> precision = {};
  std::vector<double> recall = {};
};

/// Options of addMesh().
struct MeshOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};  ///< TensorBoard's mesh page ignores it and shows the tag.
  std::string description = {};
  /// A color for each vertex, in the shape of the vertices. Unset: white.
  std::optional<TensorView> colors = std::nullopt;
  /// (batch, faces, 3), or (faces, 3): triangles of vertex numbers. Unset: a point cloud.
  std::optional<TensorView> faces = std::nullopt;
  /// THREE.js settings as a JSON object with the keys "camera", "lights" and "material", such as
  /// `{"material": {"cls": "PointsMaterial", "size": 0.2}}`. Empty: the defaults of
  /// TensorBoard.
  std::string configJson = {};
};

/// Options of addEmbedding().
///
/// There is no wall time, because the files of the projector hold none.
struct EmbeddingOptions {
  /// One row of cells per row of the matrix, all of equal length, or none. Tabs and line breaks in
  /// a cell become spaces; invalid UTF-8 becomes U+FFFD.
  std::vector<std::vector<std::string>> metadata = {};
  /// One title per column; required for several columns. The title of a single column is not
  /// written, because the projector would show it as the label of the first point.
  std::vector<std::string> metadataHeader = {};
  /// A thumbnail per row of the matrix: (N, C, H, W) with 1, 3 or 4 channels, as addImages() takes
  /// them. If H and W differ, the images are centered on squares.
  std::optional<TensorView> labelImages = std::nullopt;
  // Used only by addEmbedding(matrix, options).
  std::int64_t step = 0;
  std::string tag = "default";
};

/// Results by scalar tag, for addHparams().
using HparamMetrics = std::vector<std::pair<std::string, double>>;

/// Options of addHparams().
struct HparamsOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string groupName = {};  ///< Runs with the same name are repetitions of one trial.
  /// The columns of the study. Unset: TensorBoard derives them from all runs.
  std::optional<HparamsExperiment> experiment = std::nullopt;
};

}  // namespace steptape
