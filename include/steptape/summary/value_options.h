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

#include "steptape/event/hparams_content.h"
#include "steptape/summary/tensor_view.h"

namespace steptape {

// Options of the calls that record one value. Plain aggregates without base classes, so that both
// forms compile:
//
//   ScalarOptions o; o.displayName = "Loss";               // C++17
//   writer.addScalar("loss", x, step, {.displayName = "Loss"});  // C++20
//
// Every field has an initializer: compilers warn of a field that is left out and has none.
//
// Three fields are the same everywhere and always come first:
//   wallTime     Seconds since 1970-01-01 UTC, kept exactly; unset: when the call is made.
//   displayName  Shown instead of the tag. TensorBoard reads it with a tag's first value only.
//   description  Markdown shown beside the chart; also with the first value only.

/// Options that every value has.
struct ValueOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
};
using ScalarOptions = ValueOptions;  ///< Options of addScalar() and addScalars().
using TextOptions = ValueOptions;    ///< Options of addText() and addTextTable().
using FigureOptions = ValueOptions;  ///< Options of addFigure().

/// Where a histogram's bucket edges come from: a rule's name, how many of equal width, or the
/// edges.
///
///     options.bins = "fd";
///     options.bins = 50;
///     options.bins = {-1.0, 0.0, 0.5, 1.0};
///
/// - "tensorflow", the default: TensorBoard's fixed limits, which grow by 1.1.
/// - "auto", "fd", "sturges", "doane", "scott", "rice", "sqrt": numpy's rule of that name for how
///   many buckets of equal width lie between the least and the largest finite value.
/// - A count: that many of equal width between the same.
/// - Edges: as given; what lies outside is counted in one more bucket on either side.
///
/// A value that equals an edge belongs to the bucket on its right, but for the last edge, which
/// belongs to the bucket on its left. Equal values make equal widths reach 0.5 to either side.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @source  numpy.histogram_bin_edges, numpy 2.4: floating-point tensors as it treats float64,
///          integers and bool as it treats integers (never narrower than 1 by a rule).
class HistogramBins {
 public:
  /// Most buckets that a rule or a count makes: a single outlier can ask "fd" for 10^30.
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

/// A histogram that is already counted: what TensorFlow calls a HistogramProto.
///
/// Bucket i holds the values from bucketLimits[i - 1] (included) to bucketLimits[i] (excluded); the
/// first bucket begins at `min`, and the last one ends at `max`, both included.
struct HistogramRaw {
  double min = 0;  ///< Smallest value; 0 where there is none.
  double max = 0;  ///< Largest value; 0 where there is none.
  double num = 0;  ///< How many values.
  double sum = 0;
  double sumSquares = 0;
  std::vector<double> bucketLimits = {};  ///< Right edge of each bucket, ascending.
  std::vector<double> bucketCounts = {};  ///< As long as bucketLimits.
};

/// Options of addHistogram() and addHistogramRaw().
struct HistogramOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  HistogramBins bins = {};  ///< Not used by addHistogramRaw().
  /// At most this many buckets: neighbors are joined. 0: as many as `bins` gives. Not used by
  /// addHistogramRaw().
  int maxBins = 0;
};

/// Options of addImage().
struct ImageOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  /// Order of the dimensions: "CHW", "HWC", "HW" or any other order of these letters; without a 'C'
  /// the image is gray.
  std::string dataFormat = "CHW";
};

/// Options of addImages().
struct ImagesOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  /// Order of the dimensions: "NCHW", "NHWC", "NHW" or any other order of these letters; without a
  /// 'C' the images are gray.
  std::string dataFormat = "NCHW";
};

/// Options of addImageWithBoxes().
struct BoxOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  std::string dataFormat = "CHW";        ///< Order of the image's dimensions, as in ImageOptions.
  std::vector<std::string> labels = {};  ///< One per box, or none; an empty one is not shown.
  double rescale = 1;                    ///< Scales the image, and the boxes with it.
  /// RGB per box, or per distinct label in order of appearance; empty: red for all.
  std::vector<std::array<std::uint8_t, 3>> colors = {};
};

/// The file format of a video; TensorBoard's image page plays both.
enum class VideoFormat {
  kApng,  ///< Animated PNG: true color, lossless.
  kGif,   ///< 256 colors a frame; for viewers that know no animated PNG.
};

/// Options of addVideo().
struct VideoOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  /// Order of the dimensions: "NTCHW" or any other order of these letters; without an 'N' it is one
  /// video, without a 'C' a gray one.
  std::string dataFormat = "NTCHW";
  double fps = 4;  ///< Frames a second, 0.01 to 1000.
  VideoFormat format = VideoFormat::kApng;
};

/// How a WAV file stores its samples.
enum class AudioEncoding {
  kPcm16,    ///< 16-bit integers: what every player knows.
  kFloat32,  ///< As they are, beyond [-1, 1] too.
};

/// Options of addAudio().
struct AudioOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  std::int32_t sampleRate = 44100;  ///< Frames per second.
  std::string dataFormat = "LC";    ///< "LC": (frames, channels); "CL". Rank 1 is mono.
  AudioEncoding encoding = AudioEncoding::kPcm16;
};

/// Options of addPrCurve() and addPrCurveRaw().
struct PrCurveOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  /// At least 2, evenly spaced from 0 to 1; not used by addPrCurveRaw(). There is no upper bound:
  /// the peers stop at 127, the format does not.
  int numThresholds = 127;
  /// As many as labels, or one for all, not below 0; not used by addPrCurveRaw(). TensorBoard cuts
  /// counts to integers when it shows them: weights are best scaled so that counts are well above
  /// 1.
  std::optional<TensorView> weights = std::nullopt;
};

/// A precision-recall curve that is already counted, one element per threshold, the first for
/// threshold 0 and the last for 1. What TensorBoard shows ends with the last threshold that has
/// a positive, true or false: precision is not defined beyond.
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
  std::string displayName = {};  ///< TensorBoard's mesh page shows the tag all the same.
  std::string description = {};
  /// A color for each vertex, in the vertices' shape; white without.
  std::optional<TensorView> colors = std::nullopt;
  /// (batch, faces, 3), or (faces, 3): triangles of vertex numbers. A point cloud without.
  std::optional<TensorView> faces = std::nullopt;
  /// THREE.js settings as a JSON object with the keys "camera", "lights" and "material", such as
  /// `{"material": {"cls": "PointsMaterial", "size": 0.2}}`. Empty: TensorBoard's own.
  std::string configJson = {};
};

/// Options of addEmbedding().
///
/// There is no wall time: the projector's files hold none.
struct EmbeddingOptions {
  /// One row of cells per row of the matrix, all of one length, or none. Tabs and line ends within
  /// a cell become spaces; what is not UTF-8 becomes U+FFFD.
  std::vector<std::vector<std::string>> metadata = {};
  /// A title per column: needed for several columns. One column has no title in the file, because
  /// the projector would take it for the first point's label.
  std::vector<std::string> metadataHeader = {};
  /// A thumbnail per row of the matrix: (N, C, H, W) with 1, 3 or 4 channels, as addImages() takes
  /// them. Where H and W differ, the images are centered on squares.
  std::optional<TensorView> labelImages = std::nullopt;
  // Of addEmbedding(matrix, options) only.
  std::int64_t step = 0;
  std::string tag = "default";
};

/// Results by scalar tag.
using HparamMetrics = std::vector<std::pair<std::string, double>>;

/// Options of addHparams().
struct HparamsOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string groupName = {};  ///< Runs of one name are repetitions of one trial.
  /// None by default: TensorBoard then makes the columns of what all runs have.
  std::optional<HparamsExperiment> experiment = std::nullopt;
};

}  // namespace steptape
