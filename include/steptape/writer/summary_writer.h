// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/event/custom_scalars_layout.h"
#include "steptape/event/event.h"
#include "steptape/event/graph.h"
#include "steptape/summary/figure_traits.h"
#include "steptape/summary/graph_traits.h"
#include "steptape/summary/tensor_view.h"
#include "steptape/summary/value_options.h"
#include "steptape/writer/scalar.h"
#include "steptape/writer/step_batch.h"
#include "steptape/writer/writer_options.h"

namespace steptape {

namespace detail {
class DeferredScalars;
class WriterCore;
}  // namespace detail

/// Writes a run that TensorBoard shows.
///
///     steptape::SummaryWriter writer("runs/demo");
///     auto loss = writer.scalarTag("loss/train");
///     for (std::int64_t step = 0; step < 1000; ++step) {
///       writer.addScalar(loss, train(step), step);
///     }
///
/// The calling thread never touches a disk. A scalar call copies 24 bytes into a ring of the
/// calling thread; one background thread for all writers of the process encodes and writes:
///
///     caller -- 24-byte entry --> ring per thread --> backend thread --> encode --> CRC -->
///     write(2)
///
/// In every `addX` the order is tag, value, step, options. What a run has once has no tag and no
/// step: addCustomScalars(), addHparams(), addGraph() and addOnnxGraph(); addSummary() and
/// addEvent() take structs that hold their tags. Tags are written as given; '/' groups them in
/// TensorBoard. Steps should not decrease per tag: TensorBoard's fast data server keeps
/// only the last value at a step and drops what a step back overtakes.
///
/// Trouble in the background (a full disk) never comes out of an `addX`: it is counted in stats(),
/// told once to WriterOptions::onError and returned by flush() and close(); what could not be
/// written is kept, within WriterOptions::queueBytes, and tried again.
///
/// Where an allocation fails, a call throws std::bad_alloc and has logged nothing. What fails in
/// the background, or when a StepBatch is destroyed, is counted and told like any other trouble: a
/// record is whole or absent. The writer stays usable.
///
/// In a child made by fork() every call does nothing: the run belongs to the parent.
///
/// @threads Thread-safe, but for construction, moving and destruction.
class STEPTAPE_EXPORT SummaryWriter {
 public:
  /// Writes to `runs/<MonDD_HH-MM-SS>_<host>`, as tensorboardX names it.
  SummaryWriter();
  /// Writes to `runs/<MonDD_HH-MM-SS>_<host><options.comment>`.
  explicit SummaryWriter(WriterOptions options);
  /// Writes to a new event file in `logDir`, which is created as needed. Where files of an earlier
  /// start lie there already, the new one's name sorts after all of them.
  ///
  /// @throws Error(kIoError) if the directory or the file cannot be made.
  explicit SummaryWriter(std::string logDir, WriterOptions options = {});

  SummaryWriter(SummaryWriter&&) noexcept;
  SummaryWriter& operator=(SummaryWriter&&) noexcept;
  /// close(), without its result. Never throws, waits at most WriterOptions::flushTimeout.
  ~SummaryWriter();

  /// The run's directory; empty if the writer is not enabled and none was given.
  const std::string& logDir() const;
  /// WriterOptions::enabled, and not a forked child's.
  bool isEnabled() const;

  /// Looks `tag` up once. The first call for a tag decides its name and description in TensorBoard;
  /// `options.wallTime` is not used.
  ///
  /// @throws Error(kInvalidArgument) if `tag` is empty.
  ScalarTag scalarTag(std::string_view tag, const ScalarOptions& options = {});

  /// Records one value of a scalar series. NaN and infinities are stored unchanged: a diverging
  /// loss is worth seeing.
  ///
  /// @param value Stored as IEEE binary32, as TensorBoard displays it.
  /// @throws Error(kInvalidArgument) if `tag` is empty; nothing for a ScalarTag.
  /// @cost   No lock, allocation or system call after the thread's first call with this tag: a
  ///         clock read and a 24-byte store, plus a hash of the tag in the string form. Waits only
  ///         when the ring is full, as WriterOptions::overflow says.
  void addScalar(ScalarTag tag, double value, std::int64_t step);
  void addScalar(std::string_view tag, double value, std::int64_t step);
  void addScalar(std::string_view tag, double value, std::int64_t step,
                 const ScalarOptions& options);
  /// Takes any type with ScalarTraits, such as at::Tensor once <steptape/torch.h> is included. A
  /// value on a device is copied in the background: the caller does not wait for the device.
  template <typename T, typename = RequiresScalarTraits<T>>
  void addScalar(ScalarTag tag, const T& value, std::int64_t step) {
    if (std::optional<TensorView> inFlight = scalarInFlight(value)) {
      addScalarInFlight(tag, std::move(*inFlight), step, {});
    } else {
      addScalar(tag, ScalarTraits<T>::value(value), step);
    }
  }
  template <typename T, typename = RequiresScalarTraits<T>>
  void addScalar(std::string_view tag, const T& value, std::int64_t step,
                 const ScalarOptions& options = {}) {
    if (std::optional<TensorView> inFlight = scalarInFlight(value)) {
      addScalarInFlight(scalarTag(tag, options), std::move(*inFlight), step, options.wallTime);
    } else {
      addScalar(tag, ScalarTraits<T>::value(value), step, options);
    }
  }

  /// Starts a batch of scalars with one time stamp that come to lie in one Event.
  StepBatch atStep(std::int64_t step);

  /// Records several curves for one chart: curve `name` becomes the series `mainTag` of the sub-run
  /// `<logDir>/<mainTag>/<name>`, as tensorboardX lays it out. Sub-runs share the background
  /// thread, and only a bounded number of their files is open at a time.
  ///
  ///     writer.addScalars("loss", {{"train", trainLoss}, {"test", 0.25}}, step);
  ///
  /// A braced list takes numbers and, as addScalar() does, types with ScalarTraits, side by side.
  ///
  /// @throws Error(kInvalidArgument) if `mainTag` or a name is empty or has a ".." component.
  void addScalars(std::string_view mainTag,
                  std::initializer_list<std::pair<std::string, ScalarValue>> values,
                  std::int64_t step, const ScalarOptions& options = {});
  void addScalars(std::string_view mainTag,
                  const std::vector<std::pair<std::string, double>>& values, std::int64_t step,
                  const ScalarOptions& options = {});
  template <typename T, typename = RequiresScalarTraits<T>>
  void addScalars(std::string_view mainTag, const std::vector<std::pair<std::string, T>>& values,
                  std::int64_t step, const ScalarOptions& options = {}) {
    for (const auto& [name, value] : values) {
      addSubRunScalar(mainTag, name, value, step, options);
    }
  }

  /// Records the distribution of `values`.
  ///
  /// NaN and infinities are left out of the buckets; how many of each is told to
  /// WriterOptions::onError, once for each tag.
  ///
  /// @shape  Any, also empty; any strides; every element type.
  /// @throws Error(kInvalidArgument) if `options.bins` names an unknown rule, counts none or more
  ///         than HistogramBins::kMaxCount buckets, or has fewer than two edges or edges that do
  ///         not ascend; if `maxBins` is negative.
  /// @cost   Reduces to buckets on the calling thread, without a copy of the tensor: about 1.5 ns
  ///         per element with the default bins; a count, "sturges", "rice" and "sqrt" 8 ns; edges a
  ///         binary search each. The other rules copy the elements as doubles first. A tensor in
  ///         flight is reduced in the background.
  void addHistogram(std::string_view tag, const TensorView& values, std::int64_t step,
                    const HistogramOptions& options = {});

  /// Records a histogram whose buckets the caller has counted.
  ///
  /// @throws Error(kInvalidArgument) if the limits do not ascend or the lengths differ.
  void addHistogramRaw(std::string_view tag, const HistogramRaw& histogram, std::int64_t step,
                       const HistogramOptions& options = {});

  /// Records one image.
  ///
  /// @shape  As `options.dataFormat` says: "CHW" (default), "HWC", "HW", "WH" or any other order of
  ///         these letters; 1, 3 or 4 channels; none empty; any strides.
  /// @units  uint8: 0..255. Floats: 0..1, clamped; NaN is shown as 0, which is told to
  ///         WriterOptions::onError with the count, once for each tag. Bool. No other integers:
  ///         they have no scale that is right for all.
  /// @throws Error(kInvalidArgument) naming the shape, format or element type that does not fit.
  /// @cost   Converts to bytes here, 1 to 2 ns an element; PNG compression, 2 to 10 ns a byte, is
  ///         in the background.
  void addImage(std::string_view tag, const TensorView& pixels, std::int64_t step,
                const ImageOptions& options = {});

  /// Records a batch of images as one grid of up to 8 columns, black where no image is left.
  ///
  /// Units, errors and cost are those of addImage().
  ///
  /// @shape "NCHW" (default), "NHWC", "NHW" or any other order of these letters.
  void addImages(std::string_view tag, const TensorView& pixels, std::int64_t step,
                 const ImagesOptions& options = {});
  /// Records images that may differ in size under one tag and step; TensorBoard shows them as
  /// samples.
  ///
  /// @throws Error(kInvalidArgument) as addImage(), with the image's number; or if there is none.
  void addImages(std::string_view tag, const std::vector<TensorView>& images, std::int64_t step,
                 const ImageOptions& options = {});

  /// Records an image with boxes drawn into it, and a label at each where labels are given.
  ///
  /// Lines are two pixels wide and lie where tensorboardX and torch draw them, pixel by pixel. A
  /// label stands above the bottom edge of its box, in a field of the box's color.
  ///
  /// Units and cost are those of addImage(); drawing is in the background.
  ///
  /// @param pixels As for addImage(); a gray image becomes RGB.
  /// @param boxes  (N, 4) of any element type, rows of left, top, right, bottom in pixels of
  ///               `pixels`; what lies outside the image is clipped.
  /// @throws Error(kInvalidArgument) as addImage(), or for boxes of another shape, a coordinate
  ///         that is NaN or infinite, labels or colors of another number, or a `rescale` that
  ///         leaves no pixels. (A coordinate on a device is looked at in the background: then such
  ///         an image is dropped, counted, and told to WriterOptions::onError.)
  void addImageWithBoxes(std::string_view tag, const TensorView& pixels, const TensorView& boxes,
                         std::int64_t step, const BoxOptions& options = {});

  /// Records a figure: a steptape::Figure of <steptape/figure.h>, a PngImage of any other plotting
  /// library, or what else has FigureTraits. Several become the samples of one tag and step.
  ///
  /// @throws Error(kInvalidArgument) if a PngImage is no PNG file, or the list is empty.
  /// @cost   A Figure shares its numbers, so that taking it costs microseconds; a PngImage is
  ///         copied. Drawing and compression, about 11 ms for 640 x 480 pixels, are in the
  ///         background.
  template <typename Figure, typename = RequiresFigureTraits<Figure>>
  void addFigure(std::string_view tag, const Figure& figure, std::int64_t step,
                 const FigureOptions& options = {}) {
    addFigures(tag, {FigureTraits<Figure>::capture(figure)}, step, options);
  }
  template <typename Figure, typename = RequiresFigureTraits<Figure>>
  void addFigure(std::string_view tag, const std::vector<Figure>& figures, std::int64_t step,
                 const FigureOptions& options = {}) {
    std::vector<CapturedFigure> captured;
    captured.reserve(figures.size());
    for (const Figure& figure : figures) {
      captured.push_back(FigureTraits<Figure>::capture(figure));
    }
    addFigures(tag, std::move(captured), step, options);
  }

  /// Records a moving picture, which TensorBoard's image page plays: an animated PNG, or a GIF by
  /// option. A batch is tiled to one picture, as tensorboardX tiles it: 2 videos side by side, 4 in
  /// a square, 8 in two rows.
  ///
  /// @shape  "NTCHW" (default) or another order of these letters; without 'N' one video, without
  ///         'C' gray. 1, 3 or 4 channels; none empty; any strides.
  /// @units  As addImage().
  /// @throws Error(kInvalidArgument) naming the shape, format, element type, size or frame rate
  ///         that does not fit.
  /// @cost   Converts to bytes here, 1 to 2 ns an element; compression is in the background.
  void addVideo(std::string_view tag, const TensorView& frames, std::int64_t step,
                const VideoOptions& options = {});

  /// Records a sound, as a WAV file.
  ///
  /// @shape  (frames) or (frames, channels); (channels, frames) with `options.dataFormat = "CL"`.
  /// @units  Floats: -1..1. Samples beyond are clipped, which is told to WriterOptions::onError
  ///         with their count, once for each tag. Integers have their full range: int16, int32, and
  ///         uint8, whose silence is 128. Other integers have no agreed scale.
  /// @throws Error(kInvalidArgument) naming the shape, element type, data format or sample rate
  ///         that does not fit.
  /// @cost   Converts to the file's samples here, about 3 ns each.
  void addAudio(std::string_view tag, const TensorView& samples, std::int64_t step,
                const AudioOptions& options = {});

  /// Records a text, shown as Markdown. What is not UTF-8 is replaced by U+FFFD.
  ///
  /// @cost   Copies the text.
  void addText(std::string_view tag, std::string_view markdown, std::int64_t step,
               const TextOptions& options = {});
  /// Records texts as a table of one column, or of as many as each row has; each cell is shown as
  /// Markdown, and no row is a header.
  ///
  /// @throws Error(kInvalidArgument) if there is no row or cell, or naming the first row whose
  ///         length differs from that of row 0.
  /// @cost   Copies the texts.
  void addTextTable(std::string_view tag, const std::vector<std::string>& rows, std::int64_t step,
                    const TextOptions& options = {});
  void addTextTable(std::string_view tag, const std::vector<std::vector<std::string>>& rows,
                    std::int64_t step, const TextOptions& options = {});
  /// For tables of literals: `{"a", "b"}` alone could be the two ends of one vector or text.
  void addTextTable(std::string_view tag, std::initializer_list<const char*> rows,
                    std::int64_t step, const TextOptions& options = {}) {
    addTextTable(tag, std::vector<std::string>(rows.begin(), rows.end()), step, options);
  }
  void addTextTable(std::string_view tag, std::initializer_list<std::vector<std::string>> rows,
                    std::int64_t step, const TextOptions& options = {}) {
    addTextTable(tag, std::vector<std::vector<std::string>>(rows), step, options);
  }

  /// Records a tensor as it is, of any element type. No page of TensorBoard shows it; readers find
  /// it in the event file, under the plugin `tensor` as torch.utils.tensorboard writes it.
  ///
  /// @shape  Any, rank 0 and empty tensors too; strides may be arbitrary.
  /// @throws Error(kInvalidArgument) if it does not fit into a record of less than 2 GiB.
  /// @cost   Copies the elements, in row-major order.
  void addTensor(std::string_view tag, const TensorView& tensor, std::int64_t step,
                 const ValueOptions& options = {});

  /// Records a precision-recall curve.
  ///
  /// @param labels      Truth: every element that is not 0 is true.
  /// @param predictions Probabilities 0..1 that the label is true, as many as labels.
  /// @shape  Any, paired in row-major order; strides may be arbitrary.
  /// @throws Error(kInvalidArgument) if there are not as many of both or of the weights, or naming
  ///         the first prediction out of range or NaN, or the first negative or NaN weight, with
  ///         its index.
  /// @cost   Counts on the calling thread, about 4 ns an element; no tensor is copied.
  void addPrCurve(std::string_view tag, const TensorView& labels, const TensorView& predictions,
                  std::int64_t step, const PrCurveOptions& options = {});
  /// Records a precision-recall curve that the caller has counted.
  ///
  /// @throws Error(kInvalidArgument) naming the member of another length, or the first element that
  ///         is negative or not finite.
  void addPrCurveRaw(std::string_view tag, const PrCurveCounts& counts, std::int64_t step,
                     const PrCurveOptions& options = {});

  /// Records point clouds or meshes, with `options.faces`, of one batch.
  ///
  /// @param vertices Coordinates; stored in binary32.
  /// @shape  (batch, vertices, 3), or (vertices, 3) for one. The batch of a tag should not change.
  /// @throws Error(kInvalidArgument) naming the shape or element type of a part that does not fit
  ///         the others, or the first vertex number or integer color out of range, with its index.
  /// @cost   Copies the parts in the element types of the file, about 1 ns an element.
  void addMesh(std::string_view tag, const TensorView& vertices, std::int64_t step,
               const MeshOptions& options = {});

  /// Records points of a high-dimensional space for TensorBoard's projector, in files beside the
  /// event file: `<logDir>/<step>/<tag>/tensors.tsv`, `metadata.tsv` and `sprite.png`, the step
  /// with five digits and the tag escaped, and an entry in `<logDir>/projector_config.pbtxt`, which
  /// the projector offers as the data set `<tag>:<step>`. An entry of the same tag and step is
  /// replaced, all others are kept, those of earlier processes as well.
  ///
  /// Each file gets its name when it is whole, and the entry comes last. A failure is reported and
  /// returned by the next flush() or close(); it is not tried again. One process at a time may
  /// record embeddings of a run.
  ///
  /// @param matrix (points, dimensions) of any element type, neither of them 0.
  /// @throws Error(kInvalidArgument) if the matrix has another rank or is empty, there is not one
  ///         row of metadata or one image per point, the first row of metadata whose cells are not
  ///         as many as the first one's, a title is missing, empty or there twice, or the tag is
  ///         empty or too long for a directory's name.
  /// @cost   Copies the matrix, in its own element type, and the metadata, and turns the images
  ///         into bytes; a matrix in flight is not copied. Text is made in the background in pieces
  ///         of 64 KiB, between which scalars are looked after: 100,000 points of 128 dimensions
  ///         take about half a second and no more memory than their copy.
  void addEmbedding(std::string_view tag, const TensorView& matrix, std::int64_t step,
                    const EmbeddingOptions& options = {});
  /// The same in tensorboardX's form, with tag and step among the options.
  void addEmbedding(const TensorView& matrix, const EmbeddingOptions& options = {}) {
    addEmbedding(options.tag, matrix, options.step, options);
  }

  /// Says which scalars share a chart of the custom-scalars page. Several calls add up to one
  /// layout: a category of equal title is continued, a chart of equal title in it is replaced.
  ///
  /// @throws Error(kInvalidArgument) naming the category without a chart, the chart without a tag,
  ///         or the chart with an empty one.
  void addCustomScalars(const CustomScalarsLayout& layout);
  /// Adds one chart of lines to the layout.
  ///
  /// @param tags Regular expressions, as the peers take them: "loss" finds every tag that begins
  ///             with it. A tag that holds such characters as '.', '+' or '(' needs them escaped.
  void addCustomScalarsMultilineChart(const std::vector<std::string>& tags,
                                      const std::string& category = "default",
                                      const std::string& title = "untitled");
  /// Adds one chart of a value within a band to the layout.
  ///
  /// @param tags Value, lower and upper bound: exact tags.
  void addCustomScalarsMarginChart(const std::array<std::string, 3>& tags,
                                   const std::string& category = "default",
                                   const std::string& title = "untitled");

  /// Records the run's hyperparameters, by which TensorBoard compares runs, and its results. A
  /// metric becomes a scalar at the last step of its tag, unless that is its value there already.
  void addHparams(const Hparams& hparams, const HparamMetrics& metrics = {},
                  const HparamsOptions& options = {});

  /// Records what a model computes: an eager C++ module of LibTorch or a TorchScript module, with
  /// <steptape/torch.h>; or what else has GraphTraits.
  ///
  /// @param input What the model is called with; several arguments as a std::tuple.
  template <typename Model, typename Input,
            typename Traits = RequiresGraphTraits<std::decay_t<Model>>>
  void addGraph(Model&& model, const Input& input, const GraphOptions& options = {}) {
    if (isEnabled()) {
      addGraph(modelGraph(model, input, options), options);
    }
  }
  /// Records a graph that the caller has put together.
  void addGraph(const event::Graph& graph, const GraphOptions& options = {});
  /// Adds a further measurement to the run's graph, as GraphOptions::sessionRun, whose nodes it
  /// names. Does nothing if it is empty.
  ///
  /// @throws Error(kInvalidArgument) if `sessionRun` is empty.
  void addGraphStats(std::vector<event::GraphNodeStats> stats, const std::string& sessionRun);
  /// Records the graph of an ONNX file, with attributes and with what the file knows of shapes.
  ///
  /// Of its weights only names, types and shapes are read. Modules of a PyTorch export and the
  /// bodies of loops and branches become scopes.
  ///
  /// @throws Error(kIoError) naming the file and the system's reason if it cannot be read;
  ///         Error(kInvalidArgument) if it is no ONNX model, or cut off. Nothing is written then.
  /// @cost   Reads the file's structure here, whatever the weights' size in a few milliseconds for
  ///         thousands of nodes; the graph is encoded in the background.
  void addOnnxGraph(const std::string& path, const GraphOptions& options = {});

  /// Records values that none of the other calls makes, in one event.
  void addSummary(event::Summary summary, std::int64_t step, const ValueOptions& options = {});
  /// Records an event as it is; its wall time if that is not 0.
  void addEvent(event::Event event);

  /// Goes on from a checkpoint: what this run holds at `step` and later, sub-runs included, is
  /// forgotten by TensorBoard. Begins new event files; earlier ones stay as they are.
  void resume(std::int64_t step);

  /// Returns when every call made before it, on any thread, is in its file, whole: `kill -9` after
  /// this loses none of them.
  ///
  /// @return kIoError with the system's words if something could not be written (it is kept and
  ///         tried again), kDeadlineExceeded after WriterOptions::flushTimeout.
  Status flush();

  /// flush(), then closes the files. A later call opens a new file of the same run.
  ///
  /// @return as flush(); what could not be written by then is dropped and counted.
  Status close();

  /// What was written, dropped and retried so far.
  WriterStats stats() const;

  /// Writes every scalar that this writer has recorded to `path`, in tensorboardX's shape:
  /// `{"<logDir>/<tag>": [[wall_time, step, value], ...], ...}`; a curve of addScalars() has the
  /// key `<logDir>/<mainTag>/<name>`. NaN and infinities, which JSON does not know, become the
  /// strings "NaN", "Infinity" and "-Infinity".
  ///
  /// What resume() has overwritten is left out, as TensorBoard does. Byte for byte what `steptape
  /// export` writes of the same run, as long as no other writer had a part in it: what those of
  /// earlier processes wrote is not this writer's, even where it goes on from their checkpoint.
  ///
  /// @return kIoError if a file cannot be read or `path` not be written.
  /// @cost   Reads this writer's event files again, with memory bounded at about 16 MiB: a run of
  ///         any length exports. Spills to a temporary file beside `path`.
  Status exportScalarsToJson(const std::string& path);

 private:
  friend class detail::DeferredScalars;

  void addScalarInFlight(ScalarTag tag, TensorView value, std::int64_t step,
                         std::optional<double> wallTime);
  void addSubRunScalar(std::string_view mainTag, std::string_view name, const ScalarValue& value,
                       std::int64_t step, const ScalarOptions& options);
  void addFigures(std::string_view tag, std::vector<CapturedFigure> figures, std::int64_t step,
                  const FigureOptions& options);

  std::shared_ptr<detail::WriterCore> core_;
};

}  // namespace steptape
