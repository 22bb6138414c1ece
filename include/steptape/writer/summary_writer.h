// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/event/event.h"
#include "steptape/event/graph.h"
#include "steptape/summary/audio.h"
#include "steptape/summary/boxes.h"
#include "steptape/summary/custom_scalars.h"
#include "steptape/summary/embedding.h"
#include "steptape/summary/figure_traits.h"
#include "steptape/summary/graph_traits.h"
#include "steptape/summary/histogram.h"
#include "steptape/summary/hparams.h"
#include "steptape/summary/image.h"
#include "steptape/summary/mesh.h"
#include "steptape/summary/pr_curve.h"
#include "steptape/summary/tensor_view.h"
#include "steptape/summary/value_options.h"
#include "steptape/summary/video.h"
#include "steptape/writer/scalar_tag.h"
#include "steptape/writer/scalar_traits.h"
#include "steptape/writer/step_batch.h"
#include "steptape/writer/writer_options.h"

namespace steptape {

class WriterCore;

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
/// In every `addX` the order is tag, value, step, options. Tags are written as given; '/' groups
/// them in TensorBoard. Steps should not decrease per tag: TensorBoard's fast data server keeps
/// only the last value at a step and drops what a step back overtakes.
///
/// Trouble in the background (a full disk) never comes out of an `addX`: it is counted in stats(),
/// told once to WriterOptions::onError and returned by flush() and close(); what could not be
/// written is kept, within WriterOptions::queueBytes, and tried again.
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
  /// Takes any type with ScalarTraits, such as at::Tensor once <steptape/torch.h> is included.
  template <typename T, typename = RequiresScalarTraits<T>>
  void addScalar(ScalarTag tag, const T& value, std::int64_t step) {
    addScalar(tag, ScalarTraits<T>::value(value), step);
  }
  template <typename T, typename = RequiresScalarTraits<T>>
  void addScalar(std::string_view tag, const T& value, std::int64_t step,
                 const ScalarOptions& options = {}) {
    addScalar(tag, ScalarTraits<T>::value(value), step, options);
  }

  /// Starts a batch of scalars with one time stamp that come to lie in one Event.
  StepBatch atStep(std::int64_t step);

  /// Records several curves for one chart: curve `name` becomes the series `mainTag` of the sub-run
  /// `<logDir>/<mainTag>/<name>`, as tensorboardX lays it out. Sub-runs share the background
  /// thread, and only a bounded number of their files is open at a time.
  ///
  /// @throws Error(kInvalidArgument) if `mainTag` or a name is empty or has a ".." component.
  void addScalars(std::string_view mainTag,
                  const std::vector<std::pair<std::string, double>>& values, std::int64_t step,
                  const ScalarOptions& options = {});

  /// Records the distribution of `values`.
  ///
  /// NaN and infinities are left out of the buckets and counted apart.
  ///
  /// @shape  Any; strides may be arbitrary.
  /// @throws Error(kInvalidArgument) if `options.bins` is no rule, count or ascending edges.
  /// @cost   Reduces to buckets on the calling thread, about 1 ns per element with the default bins;
  ///         no copy is kept.
  void addHistogram(std::string_view tag, const TensorView& values, std::int64_t step,
                    const HistogramOptions& options = {});

  /// Records a histogram whose buckets the caller has counted.
  ///
  /// @throws Error(kInvalidArgument) if the limits do not ascend or the lengths differ.
  void addHistogramRaw(std::string_view tag, const HistogramRaw& histogram, std::int64_t step,
                       const HistogramOptions& options = {});

  /// Records one image.
  ///
  /// @shape  As `options.dataFormat` says: "CHW" (default), "HWC", "HW", "WH" or "CWH"; 1, 3 or 4
  ///         channels.
  /// @units  uint8: 0..255. Floats: 0..1, clamped.
  /// @throws Error(kInvalidArgument) naming the offending shape or format.
  /// @cost   Converts to bytes here; PNG compression happens in the background.
  void addImage(std::string_view tag, const TensorView& pixels, std::int64_t step,
                const ImageOptions& options = {});

  /// Records a batch of images as one grid of up to 8 columns.
  ///
  /// @shape "NCHW" (default), "NHWC" or "NHW".
  void addImages(std::string_view tag, const TensorView& pixels, std::int64_t step,
                 const ImagesOptions& options = {});
  /// Records images that may differ in size, side by side under one tag and step.
  ///
  /// @throws Error(kInvalidArgument) as addImage(), with the image's number; or if there is none.
  void addImages(std::string_view tag, const std::vector<TensorView>& images, std::int64_t step,
                 const ImageOptions& options = {});

  /// Records an image with boxes drawn into it, and a label at each where labels are given.
  ///
  /// @param boxes (N, 4), rows of left, top, right, bottom in pixels of `pixels`; what lies outside
  ///              the image is clipped.
  void addImageWithBoxes(std::string_view tag, const TensorView& pixels, const TensorView& boxes,
                         std::int64_t step, const BoxOptions& options = {});

  /// Records a figure: a steptape::Figure of <steptape/figure.h>, a PngImage of any other plotting
  /// library, or what else has FigureTraits. Several come to lie side by side.
  ///
  /// @cost   Copies the figure's data; it is drawn in the background.
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

  /// Records a moving picture, which TensorBoard's image page plays. A batch is tiled to one.
  ///
  /// @shape  "NTCHW" (default) or another order of these letters; without 'N' one video, without
  ///         'C' grey.
  /// @cost   Converts to bytes here; compression happens in the background.
  void addVideo(std::string_view tag, const TensorView& frames, std::int64_t step,
                const VideoOptions& options = {});

  /// Records a sound.
  ///
  /// @shape  (frames) or (frames, channels); (channels, frames) with `options.dataFormat = "CL"`.
  /// @units  Floats: -1..1. Samples beyond are clipped, which is told to WriterOptions::onError
  ///         with their count, once for each tag.
  void addAudio(std::string_view tag, const TensorView& samples, std::int64_t step,
                const AudioOptions& options = {});

  /// Records a text, shown as Markdown.
  void addText(std::string_view tag, std::string_view markdown, std::int64_t step,
               const TextOptions& options = {});
  /// Records texts as a table of one column, or of as many as each row has.
  ///
  /// @throws Error(kInvalidArgument) naming the first row whose length differs.
  void addTextTable(std::string_view tag, const std::vector<std::string>& rows, std::int64_t step,
                    const TextOptions& options = {});
  void addTextTable(std::string_view tag, const std::vector<std::vector<std::string>>& rows,
                    std::int64_t step, const TextOptions& options = {});

  /// Records a tensor as it is, of any element type. No page of TensorBoard shows it; readers find
  /// it in the event file.
  void addTensor(std::string_view tag, const TensorView& tensor, std::int64_t step,
                 const ValueOptions& options = {});

  /// Records a precision-recall curve.
  ///
  /// @param labels      Truth values, any shape.
  /// @param predictions Probabilities 0..1, as many.
  void addPrCurve(std::string_view tag, const TensorView& labels, const TensorView& predictions,
                  std::int64_t step, const PrCurveOptions& options = {});
  /// Records a precision-recall curve that the caller has counted.
  void addPrCurveRaw(std::string_view tag, const PrCurveCounts& counts, std::int64_t step,
                     const PrCurveOptions& options = {});

  /// Records a point cloud or a mesh.
  ///
  /// @param vertices (batch, vertices, 3), or (vertices, 3) for one.
  void addMesh(std::string_view tag, const TensorView& vertices, std::int64_t step,
               const MeshOptions& options = {});

  /// Records points of a high-dimensional space for TensorBoard's projector, in files beside the
  /// event file.
  ///
  /// @param matrix (points, dimensions).
  void addEmbedding(const TensorView& matrix, const EmbeddingOptions& options = {});

  /// Says which scalars share a chart of the custom-scalars page. Several calls add up to one
  /// layout.
  void addCustomScalars(const CustomScalarsLayout& layout);
  void addCustomScalarsMultilineChart(const std::vector<std::string>& tags,
                                      const std::string& category = "default",
                                      const std::string& title = "untitled");
  /// @param tags Value, lower and upper bound.
  void addCustomScalarsMarginChart(const std::array<std::string, 3>& tags,
                                   const std::string& category = "default",
                                   const std::string& title = "untitled");

  /// Records the run's hyperparameters, by which TensorBoard compares runs, and its results.
  void addHparams(const Hparams& hparams, const HparamMetrics& metrics = {},
                  const HparamsOptions& options = {});

  /// Records what a model computes: an eager C++ module of LibTorch or a TorchScript module, with
  /// <steptape/torch.h>; or what else has GraphTraits.
  ///
  /// @param input What the model is called with; several arguments as a std::tuple.
  template <typename Model, typename Input, typename Traits = GraphTraits<std::decay_t<Model>>>
  void addGraph(Model&& model, const Input& input, const GraphOptions& options = {}) {
    if (isEnabled()) {
      addGraph(Traits::graph(model, input, options), options);
    }
  }
  /// Records a graph that the caller has put together.
  void addGraph(const Graph& graph, const GraphOptions& options = {});
  /// Records the graph of an ONNX file. Of its weights shapes are kept, no values.
  void addOnnxGraph(const std::string& path, const GraphOptions& options = {});

  /// Records values that none of the other calls makes, in one event.
  void addSummary(Summary summary, std::int64_t step, const ValueOptions& options = {});
  /// Records an event as it is; its wall time if that is not 0.
  void addEvent(Event event);

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
  /// @return kIoError if a file cannot be read or `path` not be written.
  /// @cost   Reads this writer's event files again, with memory bounded at about 16 MiB: a run of
  ///         any length exports. Spills to a temporary file beside `path`.
  Status exportScalarsToJson(const std::string& path);

 private:
  void addPixels(std::string_view tag, Pixels pixels, std::int64_t step,
                 std::optional<double> wallTime, SummaryMetadata metadata);
  void addFigures(std::string_view tag, std::vector<CapturedFigure> figures, std::int64_t step,
                  const FigureOptions& options);

  std::shared_ptr<WriterCore> core_;
};

}  // namespace steptape
