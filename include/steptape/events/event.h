// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "steptape/base/export.h"

namespace steptape {

/// The form of scalars, histograms, images and audio in the event file. TensorBoard shows both
/// alike; other readers differ.
enum class ValueForm {
  /// The fields `simple_value`, `histo`, `image` and `audio`, as torch.utils.tensorboard and
  /// tensorboardX write them. Every reader and importer of event files supports them.
  kCompatible,
  /// A tensor with the metadata of a plugin, as TensorFlow 2 writes it. Python scripts find these
  /// values only among the tensors. Compared with kCompatible, a scalar takes TensorBoard's Python
  /// loader 5 us instead of 22 us, its data server 0.43 us instead of 0.30 us, EventAccumulator
  /// 11 us instead of 6 us, and 26 bytes instead of 21: docs/compatibility.md, "Readers and
  /// importers".
  kTensor,
};

}  // namespace steptape

namespace steptape::event {

// The contents of an event file as plain structs. They have their own namespace, because training
// programs use names such as Tensor and Graph too. src/events/messages/event_codec.h encodes them.
// The fields have the meanings of tensorflow/core/util/event.proto and
// tensorflow/core/framework/summary.proto.

/// The kind of series of a tag. TensorBoard's fast data server ignores tags of unknown class.
enum class DataClass : std::int32_t { kUnknown = 0, kScalar = 1, kTensor = 2, kBlobSequence = 3 };

/// The element type of a Tensor, with the numbers of tensorflow/core/framework/types.proto.
enum class TensorType : std::int32_t {
  kInvalid = 0,
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUInt8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kInt64 = 9,
  kBool = 10,
  kBFloat16 = 14,
  kUInt16 = 17,
  kHalf = 19,
  kUInt32 = 22,
  kUInt64 = 23,
};

/// Returns the bytes of one element; 0 for strings and for types unknown to Steptape.
STEPTAPE_EXPORT std::uint64_t bytesPerElement(TensorType type);

/// The plugin that shows a tag, and how. Readers keep only the first metadata of a tag in each
/// file.
struct SummaryMetadata {
  std::string pluginName;     ///< Such as "scalars"; see plugin_content.h.
  std::string pluginContent;  ///< The serialized message of the plugin; empty for most.
  std::string displayName;    ///< Shown instead of the tag unless empty.
  std::string description;    ///< Markdown beside the chart.
  DataClass dataClass = DataClass::kUnknown;
};

/// A dense tensor in row-major order.
struct Tensor {
  TensorType type = TensorType::kInvalid;
  std::vector<std::int64_t> shape;   ///< Empty: rank 0, one element.
  std::string content;               ///< Numbers, little-endian; empty for kString.
  std::vector<std::string> strings;  ///< Elements of a kString tensor.
};

/// The field `image` of ValueForm::kCompatible.
struct SummaryImage {
  std::int32_t height = 0;
  std::int32_t width = 0;
  std::int32_t colorspace = 0;
  std::string encoded;
};
/// The field `audio` of ValueForm::kCompatible.
struct SummaryAudio {
  float sampleRate = 0;
  std::int64_t numChannels = 0;
  std::int64_t lengthFrames = 0;
  std::string encoded;
  std::string contentType;
};
/// The field `histo` of ValueForm::kCompatible.
struct SummaryHistogram {
  double min = 0;
  double max = 0;
  double num = 0;
  double sum = 0;
  double sumSquares = 0;
  std::vector<double> bucketLimits;  ///< Right edges, increasing.
  std::vector<double> bucketCounts;
};

/// The data of one tag at one step.
struct Value {
  using Data =
      std::variant<std::monostate, float, Tensor, SummaryImage, SummaryHistogram, SummaryAudio>;

  std::string tag;
  Data data;  ///< A bare float is a `simple_value`.
  std::optional<SummaryMetadata> metadata;
};

struct Summary {
  std::vector<Value> values;
};

struct FileVersion {
  std::string version;  ///< "brain.Event:2" in every file since 2015.
};

struct GraphDef {
  std::string bytes;  ///< A serialized tensorflow.GraphDef.
};

struct MetaGraphDef {
  std::string bytes;
};

struct TaggedRunMetadata {
  std::string tag;
  std::string bytes;
};

/// Marks a start or restart: readers discard points at or after the event's step in earlier files
/// of the run.
struct SessionLog {
  enum class Status : std::int32_t { kUnspecified = 0, kStart = 1, kStop = 2, kCheckpoint = 3 };
  Status status = Status::kUnspecified;
  std::string checkpointPath;
  std::string message;
};

/// One record of an event file.
struct Event {
  using What = std::variant<std::monostate, FileVersion, GraphDef, MetaGraphDef, Summary,
                            SessionLog, TaggedRunMetadata>;

  double wallTime = 0;  ///< Seconds since 1970-01-01 UTC.
  std::int64_t step = 0;
  What what;
  std::string sourceWriter;  ///< The writer of the file; only in its first record.
};

}  // namespace steptape::event
