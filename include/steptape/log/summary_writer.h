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
#include "steptape/events/event.h"
#include "steptape/events/graph.h"
#include "steptape/events/plugin_content.h"
#include "steptape/log/scalar.h"
#include "steptape/log/writer_options.h"
#include "steptape/values/figure_traits.h"
#include "steptape/values/graph_traits.h"
#include "steptape/values/tensor_view.h"
#include "steptape/values/value_options.h"

namespace steptape {

namespace detail::log {
class DeferredScalars;
class RunClient;
}  // namespace detail::log

/// Writes a run for TensorBoard.
///
///     steptape::SummaryWriter writer("runs/demo");
///     auto loss = writer.scalarTag("loss/train");
///     for (std::int64_t step = 0; step < 1000; ++step) {
///       writer.addScalar(loss, train(step), step);
///     }
///
/// The calling thread never waits for a disk. A scalar call copies 24 bytes into a ring of the
/// calling thread; one background thread for all writers of the process encodes and writes:
///
///     caller -- 24-byte entry --> ring per thread --> backend thread --> encode --> CRC -->
///     write(2)
///
/// The arguments of every `addX` are tag, value, step and options, in this order. Values that a run
/// has once take no tag and no step: addCustomScalars(), addHparams(), addGraph() and
/// addOnnxGraph(). addSummary() and addEvent() take structs that contain their tags. Tags are
/// written unchanged; '/' groups them in TensorBoard. The steps of a tag should increase:
/// TensorBoard's fast data server keeps only the last value of a step, and discards points at or
/// after the step of a later-written value. All values of a tag must be of one kind: TensorBoard
/// does not show a histogram whose tag is that of scalars, and often neither of them.
/// WriterOptions::onError reports each of these once for each tag.
///
/// Every call has copied the data that it needs when it returns.
///
/// Background failures, such as a full disk, never surface in `addX`: stats() counts them,
/// WriterOptions::onError reports each once, and flush() and close() return them. Data that could
/// not be written is kept, within WriterOptions::queueBytes, and retried.
///
/// If memory runs out, a call throws std::bad_alloc and logs nothing. If it runs out in the
/// background, or in the destructor of a StepBatch, that is counted and reported as any other
/// background failure. A record is written whole or not at all. The writer stays usable.
///
/// In a child process after fork(), all calls do nothing: the run belongs to the parent.
///
/// @threads Thread-safe, except construction, move and destruction.
class STEPTAPE_EXPORT SummaryWriter {
 public:
  /// Writes to `runs/<MonDD_HH-MM-SS>_<host>`, as tensorboardX names it; in a job of Slurm, PBS,
  /// LSF or Flux with `_job<number>` at its end, and the element of an array: `_job50_3`.
  SummaryWriter();
  /// Writes to `runs/<MonDD_HH-MM-SS>_<host><options.comment>`.
  explicit SummaryWriter(WriterOptions options);
  /// Writes to a new event file in `logDir`, which is created if needed. The name of the new file
  /// sorts after the event files that the directory contains.
  ///
  /// @throws Error(kIoError) if the directory or the file cannot be created;
  ///         Error(kFailedPrecondition) if another process writes the run, see
  ///         WriterOptions::occupied.
  /// @cost   Some system calls; up to 20 s if a process of another machine wrote the run a moment
  ///         ago and was killed: only waiting tells that it ended.
  explicit SummaryWriter(std::string logDir, WriterOptions options = {});

  SummaryWriter(SummaryWriter&&) noexcept;
  SummaryWriter& operator=(SummaryWriter&&) noexcept;
  /// Closes the run as close() does. Never throws; waits at most WriterOptions::flushTimeout.
  ~SummaryWriter();

  /// Returns the directory of the run; empty if the writer is disabled and none was given.
  const std::string& logDir() const;
  /// Returns WriterOptions::enabled; false in a child process after fork().
  bool isEnabled() const;

  /// Returns a handle of `tag`. The first call for a tag sets its name and description in
  /// TensorBoard; `options.wallTime` is ignored.
  ///
  /// @throws Error(kInvalidArgument) if `tag` is empty.
  ScalarTag scalarTag(std::string_view tag, const ScalarOptions& options = {});

  /// Records one value of a scalar series. NaN and infinities are stored unchanged, so that a
  /// diverging loss is visible.
  ///
  /// @param value Stored as IEEE binary32, as TensorBoard displays it.
  /// @throws Error(kInvalidArgument) if `tag` is an empty string.
  /// @cost   A clock read and a 24-byte store, plus a hash of the tag if it is a string. No lock,
  ///         allocation or system call after the first call of a thread with this tag. Waits only
  ///         if the ring is full, as WriterOptions::overflow says.
  void addScalar(ScalarTag tag, double value, std::int64_t step);
  void addScalar(std::string_view tag, double value, std::int64_t step);
  void addScalar(std::string_view tag, double value, std::int64_t step,
                 const ScalarOptions& options);
  /// Records a number of any type with ScalarTraits, such as at::Tensor with `<steptape/torch.h>`.
  /// A number on a device is copied in the background: the caller does not wait for the device.
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

  /// Starts a batch of scalars that get one time stamp and are written as one Event.
  StepBatch atStep(std::int64_t step);

  /// Records several curves of one chart. Curve `name` becomes the series `mainTag` of the sub-run
  /// `<logDir>/<mainTag>/<name>`, as in tensorboardX. Sub-runs share the background thread; a
  /// bounded number of their files is open at a time.
  ///
  ///     writer.addScalars("loss", {{"train", trainLoss}, {"test", 0.25}}, step);
  ///
  /// A braced list may mix numbers and types with ScalarTraits.
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
  /// NaN and infinities are not counted in the buckets; WriterOptions::onError reports how many
  /// there are, once for each tag.
  ///
  /// @shape  Any, also empty; any strides; every element type.
  /// @throws Error(kInvalidArgument) if `options.bins` is an unknown rule, a count outside 1 to
  ///         HistogramBins::kMaxCount, or fewer than two or not increasing edges; or if `maxBins`
  ///         is negative.
  /// @cost   Reduces to buckets on the calling thread without copying the tensor: about 1.5 ns per
  ///         element with the default bins, 8 ns with a count, "sturges", "rice" or "sqrt", and a
  ///         binary search with edges. The other rules copy the elements to doubles first. A tensor
  ///         in flight is reduced in the background.
  void addHistogram(std::string_view tag, const TensorView& values, std::int64_t step,
                    const HistogramOptions& options = {});

  /// Records a histogram whose buckets the caller has counted.
  ///
  /// @throws Error(kInvalidArgument) if the limits do not increase or the lengths differ.
  void addHistogramRaw(std::string_view tag, const HistogramRaw& histogram, std::int64_t step,
                       const HistogramOptions& options = {});

  /// Records one image.
  ///
  /// @shape  As `options.dataFormat` says: "CHW" (default), "HWC", "HW", "WH" or any other order of
  ///         these letters; 1, 3 or 4 channels; none empty; any strides.
  /// @units  uint8: 0..255. Floating point: 0..1, clamped. WriterOptions::onError reports elements
  ///         below -0.5 or above 1.5, such as those of 0..255, with their range, and the number of
  ///         NaN elements, which become 0, each once for each tag. bool: false is black. Other
  ///         integers are rejected, since they have no agreed scale.
  /// @throws Error(kInvalidArgument) naming the invalid shape, format or element type.
  /// @cost   Converts to bytes on the calling thread, 1 to 2 ns an element; compresses to PNG in
  ///         the background, 2 to 10 ns a byte.
  void addImage(std::string_view tag, const TensorView& pixels, std::int64_t step,
                const ImageOptions& options = {});

  /// Records a batch of images as one grid of up to 8 columns; cells without an image are black.
  ///
  /// Units, errors and cost are those of addImage().
  ///
  /// @shape "NCHW" (default), "NHWC", "NHW" or any other order of these letters.
  void addImages(std::string_view tag, const TensorView& pixels, std::int64_t step,
                 const ImagesOptions& options = {});
  /// Records images that may differ in size under one tag and step; TensorBoard shows them as
  /// samples.
  ///
  /// @throws Error(kInvalidArgument) as addImage(), with the index of the image; or if the list is
  ///         empty.
  void addImages(std::string_view tag, const std::vector<TensorView>& images, std::int64_t step,
                 const ImageOptions& options = {});

  /// Records an image with boxes, and with a label at each box if there are labels.
  ///
  /// Lines are two pixels wide, at exactly the pixels of tensorboardX and torch. A label is above
  /// the bottom edge of its box, on the color of the box.
  ///
  /// Units and cost are those of addImage(). The boxes are drawn in the background.
  ///
  /// @param pixels As for addImage(); a gray image becomes RGB.
  /// @param boxes  (N, 4) of any element type: left, top, right, bottom in pixels of `pixels`;
  ///               parts outside the image are clipped.
  /// @throws Error(kInvalidArgument) as addImage(), or for boxes of another shape, a NaN or
  ///         infinite coordinate, a wrong number of labels or colors, or a `rescale` that leaves no
  ///         pixels. Coordinates on a device are checked in the background: an invalid one discards
  ///         the image, which is counted and reported through WriterOptions::onError.
  void addImageWithBoxes(std::string_view tag, const TensorView& pixels, const TensorView& boxes,
                         std::int64_t step, const BoxOptions& options = {});

  /// Records a figure: a steptape::Figure of `<steptape/figure.h>`, a PngImage of another plotting
  /// library, or any type with FigureTraits. Several figures become the samples of one tag and
  /// step.
  ///
  /// @throws Error(kInvalidArgument) if a PngImage is not a PNG file, or the list is empty.
  /// @cost   Microseconds for a Figure, whose numbers are shared; a PngImage is copied. Drawing and
  ///         compression, about 11 ms for 640 x 480 pixels, run in the background.
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

  /// Records a video as an animated PNG, which TensorBoard's image page plays. A batch becomes one
  /// grid, as in tensorboardX: 2 videos side by side, 4 in a square, 8 in two rows.
  ///
  /// @shape  "NTCHW" (default) or another order of these letters; without 'N' one video, without
  ///         'C' gray. 1, 3 or 4 channels; none empty; any strides.
  /// @units  As addImage().
  /// @throws Error(kInvalidArgument) naming the invalid shape, format, element type, size or frame
  ///         rate.
  /// @cost   Converts to bytes on the calling thread, 1 to 2 ns an element; compresses in the
  ///         background.
  void addVideo(std::string_view tag, const TensorView& frames, std::int64_t step,
                const VideoOptions& options = {});

  /// Records audio, as a WAV file.
  ///
  /// @shape  (frames) or (frames, channels); (channels, frames) with `options.dataFormat = "CL"`.
  /// @units  Floating point: -1..1. Samples outside are clipped, and WriterOptions::onError reports
  ///         how many there are, once for each tag. int16, int32 and uint8 use their full range;
  ///         silence is 128 in uint8. Other integers are rejected: they have no agreed scale.
  /// @throws Error(kInvalidArgument) naming the invalid shape, element type, data format or sample
  ///         rate.
  /// @cost   Converts the samples on the calling thread, about 3 ns each.
  void addAudio(std::string_view tag, const TensorView& samples, std::int64_t step,
                const AudioOptions& options = {});

  /// Records a text, which TensorBoard shows as Markdown. Invalid UTF-8 is replaced by U+FFFD.
  ///
  /// @cost   Copies the text.
  void addText(std::string_view tag, std::string_view markdown, std::int64_t step,
               const TextOptions& options = {});
  /// Records a table of texts, of one column or of as many as row 0 has. TensorBoard shows each
  /// cell as Markdown, and no row as a header.
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

  /// Records a tensor unchanged, of any element type. No page of TensorBoard shows it; readers find
  /// it under the plugin `tensor`, as torch.utils.tensorboard writes it.
  ///
  /// @shape  Any, including rank 0 and empty tensors; any strides.
  /// @throws Error(kInvalidArgument) if it does not fit into a record of less than 2 GiB.
  /// @cost   Copies the elements in row-major order.
  void addTensor(std::string_view tag, const TensorView& tensor, std::int64_t step,
                 const ValueOptions& options = {});

  /// Records a precision-recall curve.
  ///
  /// @param labels      The truth: every element that is not 0 is true.
  /// @param predictions Probabilities, 0..1, that the label is true; as many as labels.
  /// @shape  Any, paired in row-major order; any strides.
  /// @throws Error(kInvalidArgument) if the numbers of labels, predictions and weights differ, or
  ///         naming the index of the first prediction outside 0..1 or of the first negative or
  ///         infinite weight; NaN is invalid too.
  /// @cost   Counts on the calling thread, about 4 ns an element; copies no tensor.
  void addPrCurve(std::string_view tag, const TensorView& labels, const TensorView& predictions,
                  std::int64_t step, const PrCurveOptions& options = {});
  /// Records a precision-recall curve that the caller has counted.
  ///
  /// @throws Error(kInvalidArgument) naming the member whose length differs, or the first element
  ///         that is negative or not finite.
  void addPrCurveRaw(std::string_view tag, const PrCurveCounts& counts, std::int64_t step,
                     const PrCurveOptions& options = {});

  /// Records a batch of point clouds, or of meshes if there are `options.faces`.
  ///
  /// @param vertices Coordinates; stored in binary32. WriterOptions::onError reports NaN and
  ///                 infinite ones, with which a browser does not show the mesh.
  /// @shape  (batch, vertices, 3), or (vertices, 3) for one. Keep the batch size of a tag constant.
  /// @throws Error(kInvalidArgument) naming the part whose shape or element type does not match the
  ///         others, or the index of the first vertex number or integer color out of range.
  /// @cost   Copies the parts in the element types of the file, about 1 ns an element.
  void addMesh(std::string_view tag, const TensorView& vertices, std::int64_t step,
               const MeshOptions& options = {});

  /// Records points of a high-dimensional space for TensorBoard's projector.
  ///
  /// Writes `tensors.tsv`, `metadata.tsv` and `sprite.png` to `<logDir>/<step>/<tag>`, with five
  /// digits of the step and an escaped tag, and an entry to `<logDir>/projector_config.pbtxt`. The
  /// projector lists it as the data set `<tag>:<step>`. The entry replaces one of the same tag and
  /// step; all others are kept, including those of earlier processes.
  ///
  /// Each file appears whole, and the entry last. A failure is reported and returned by the next
  /// flush() or close(); it is not retried. Only one process at a time may record embeddings of a
  /// run.
  ///
  /// @param matrix (points, dimensions) of any element type, neither of them 0.
  /// @throws Error(kInvalidArgument) if the matrix has another rank or is empty; if metadata or
  ///         images are not one per point; naming the first row of metadata whose length differs
  ///         from that of row 0; if a title is missing, blank or repeated; or if the tag is empty
  ///         or too long for the name of a directory.
  /// @cost   Copies the matrix, in its own element type, and the metadata, and converts the images
  ///         to bytes; a matrix in flight is not copied. The background thread writes text in
  ///         pieces of 64 KiB and handles scalars between them: 100,000 points of 128 dimensions
  ///         take about 0.5 s and no memory beyond the copy.
  void addEmbedding(std::string_view tag, const TensorView& matrix, std::int64_t step,
                    const EmbeddingOptions& options = {});
  /// Records an embedding as above, with tag and step in the options, as in tensorboardX.
  void addEmbedding(const TensorView& matrix, const EmbeddingOptions& options = {}) {
    addEmbedding(options.tag, matrix, options.step, options);
  }

  /// Adds charts to the layout of the custom-scalars page. Charts are added to an existing category
  /// with the same title, where they replace charts with the same title.
  ///
  /// @throws Error(kInvalidArgument) naming the category without charts, or the chart without tags
  ///         or with an empty tag.
  void addCustomScalars(const CustomScalarsLayout& layout);
  /// Adds one chart of lines to the layout.
  ///
  /// @param tags Regular expressions of Python's `re`: "loss" matches every tag that begins with
  ///             it. Escape characters such as '.', '+' and '(' of a tag.
  void addCustomScalarsMultilineChart(const std::vector<std::string>& tags,
                                      const std::string& category = "default",
                                      const std::string& title = "untitled");
  /// Adds one chart of a value within a band to the layout.
  ///
  /// @param tags Value, lower and upper bound: exact tags.
  void addCustomScalarsMarginChart(const std::array<std::string, 3>& tags,
                                   const std::string& category = "default",
                                   const std::string& title = "untitled");

  /// Records the hyperparameters of the run, by which TensorBoard compares runs, and its results.
  /// Each metric becomes a scalar at the last step of its tag, unless the tag already has this
  /// value there.
  ///
  /// @throws Error(kInvalidArgument) naming the hyperparameter or metric that is invalid.
  void addHparams(const Hparams& hparams, const HparamMetrics& metrics = {},
                  const HparamsOptions& options = {});

  /// Records the graph of a model: with `<steptape/torch.h>` an eager C++ module of LibTorch or a
  /// TorchScript module; else any type with GraphTraits.
  ///
  /// @param model   The model, which may be run to record it.
  /// @param input   The argument of the model; several arguments as a std::tuple.
  /// @param options See GraphOptions.
  template <typename Model, typename Input,
            typename Traits = RequiresGraphTraits<std::decay_t<Model>>>
  void addGraph(Model&& model, const Input& input, const GraphOptions& options = {}) {
    if (isEnabled()) {
      addGraph(modelGraph(model, input, options), options);
    }
  }
  /// Records a graph that the caller has built. A run has one graph: of several, TensorBoard shows
  /// one, and WriterOptions::onError reports it.
  void addGraph(const event::Graph& graph, const GraphOptions& options = {});
  /// Adds a measurement of the nodes of the run's graph, under the name `sessionRun` as in
  /// GraphOptions. Does nothing if `stats` is empty.
  ///
  /// @throws Error(kInvalidArgument) if `sessionRun` is empty.
  void addGraphStats(std::vector<event::GraphNodeStats> stats, const std::string& sessionRun);
  /// Records the graph of an ONNX file, with the attributes and shapes that the file contains.
  ///
  /// Of the weights it reads only names, types and shapes. The modules of a PyTorch export and the
  /// bodies of loops and branches become scopes.
  ///
  /// @throws Error(kIoError) with the file and the operating system's error message if it cannot be
  ///         read; Error(kInvalidArgument) if it is not a whole ONNX model. Nothing is written
  ///         then.
  /// @cost   Reads the structure of the file on the calling thread, in a few milliseconds for
  ///         thousands of nodes, whatever the size of the weights; encodes the graph in the
  ///         background.
  void addOnnxGraph(const std::string& path, const GraphOptions& options = {});

  /// Records any values in one event, for values that no other call makes.
  ///
  /// WriterOptions::onError reports, once for each tag, a scalar that is not one DT_FLOAT and a
  /// first value without a plugin: TensorBoard shows neither. `steptape check` knows more such
  /// rules.
  void addSummary(event::Summary summary, std::int64_t step, const ValueOptions& options = {});
  /// Records an event unchanged; a wall time of 0 means now.
  ///
  /// @throws Error(kInvalidArgument) if the event is empty or a file version, or has an empty tag.
  void addEvent(event::Event event);

  /// Calls WriterOptions::eventCommand with a JSON document; does nothing if there is none.
  ///
  /// @param event   A name of the caller's, such as "best".
  /// @param message For people.
  /// @threads       Thread-safe. Does not wait for the command.
  void notify(std::string_view event, std::string_view message);

  /// Resumes the run at `step`, such as from a checkpoint: TensorBoard discards points at or after
  /// `step`, in sub-runs too. Starts new event files; earlier ones stay unchanged.
  void resume(std::int64_t step);

  /// Waits until the data of all earlier calls, on any thread, is in its file: data logged before
  /// flush() returned is safe from `kill -9`.
  ///
  /// @return kIoError with the operating system's error message if data could not be written (it is
  ///         kept and retried); kDeadlineExceeded after WriterOptions::flushTimeout.
  Status flush();

  /// Flushes as flush() does, and closes the files. A later call opens a new file of the same run.
  ///
  /// @return as flush(); data that could not be written by then is discarded and counted.
  Status close();

  /// Returns counts of the data that was written, discarded and retried so far.
  WriterStats stats() const;

  /// Writes every scalar that this writer has recorded to `path`, in the form of tensorboardX:
  /// `{"<logDir>/<tag>": [[wall_time, step, value], ...], ...}`. A curve of addScalars() has the
  /// key `<logDir>/<mainTag>/<name>`. Of curves with the same key, such as that of addScalar("a/b")
  /// and that of addScalars("a", {{"b", ...}}), the second has the key with " (2)" at the end. NaN
  /// and infinities, which JSON numbers cannot express, become the strings "NaN", "Infinity" and
  /// "-Infinity".
  ///
  /// Points that resume() has discarded are left out. Points of other writers are left out too,
  /// such as those of an earlier process whose run this writer continues. For a run of one writer
  /// the file is byte for byte that of `steptape export`.
  ///
  /// @return kIoError if an event file cannot be read or `path` cannot be written.
  /// @cost   Reads this writer's event files again, with about 16 MiB of memory for a run of any
  ///         length. Uses a temporary file beside `path`.
  Status exportScalarsToJson(const std::string& path);

 private:
  friend class detail::log::DeferredScalars;

  void addScalarInFlight(ScalarTag tag, TensorView value, std::int64_t step,
                         std::optional<double> wallTime);
  void addSubRunScalar(std::string_view mainTag, std::string_view name, const ScalarValue& value,
                       std::int64_t step, const ScalarOptions& options);
  void addFigures(std::string_view tag, std::vector<CapturedFigure> figures, std::int64_t step,
                  const FigureOptions& options);

  std::shared_ptr<detail::log::RunClient> client_;
};

}  // namespace steptape
