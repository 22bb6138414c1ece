// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/comm/communicator.h"
#include "steptape/distributed/distributed_writer_options.h"
#include "steptape/writer/summary_writer.h"

namespace steptape {

/// Logs a job of several ranks: the job's truth and not one rank's.
///
///     steptape::DistributedWriter writer("runs/exp", world);
///     writer.addScalar("lr", lr, step);             // the root's own value
///     steptape::ReducedOptions options;
///     options.weight = batchSize;
///     writer.addReduced("loss", loss, step, options);   // queued on every rank ...
///     writer.reduce(step);                              // ... averaged over all, in one allreduce
///
/// It has every call of SummaryWriter, and each works on every rank, so that no `if (rank == 0)` is
/// needed; RankPolicy says which of them are written. What the ranks averaged is written once, by
/// the root.
///
/// It is no SummaryWriter, because a SummaryWriter& could not average. Code that takes one, such as
/// writeTraceSummary(), gets localWriter() or jobWriter(), which name whose values they log.
///
/// The destructor starts no collective. It waits for other ranks only under
/// ReduceMode::kNonBlocking, at most Communicator::timeout(), for those that have not come to the
/// last reduce() yet. What was queued and not reduced is then lost, which is counted and told once
/// to WriterOptions::onError.
///
/// @threads addScalar() and the other calls that SummaryWriter has: thread-safe, except addScalar()
///          with a tag's name under RankPolicy::kReduced, and flush() and close() under
///          ReduceMode::kNonBlocking. These, addReduced(), reduce() and the other collectives,
///          construction, moving and destruction: not thread-safe, one thread at a time, the
///          communicator's.
class STEPTAPE_EXPORT DistributedWriter {
 public:
  /// Opens the run. The root's `logDir` counts, so ranks may each put a time of their own in it.
  ///
  /// Collective: a rank that cannot start makes all throw, and none is left waiting.
  ///
  /// @throws Error(kIoError) on every rank, naming the rank whose directory or file cannot be made;
  ///         Error(kInvalidArgument) if there is no communicator or no directory.
  /// @cost   Two or three small collectives.
  DistributedWriter(std::string logDir, std::shared_ptr<Communicator> communicator,
                    DistributedWriterOptions options = {});
  DistributedWriter(DistributedWriter&&) noexcept;
  /// Ends the writer that was here as its destructor does.
  DistributedWriter& operator=(DistributedWriter&&) noexcept;
  ~DistributedWriter();

  /// Queues this rank's value of a metric for reduce(step).
  ///
  /// Several values of one tag and step count as several values, each with its weight. A rank
  /// without a value says so with weight 0; it must not leave the call out. NaN and infinities pass
  /// through to the mean.
  ///
  /// @throws Error(kInvalidArgument) if `tag` is empty, the weight is negative or not finite, the
  ///         wall time is not finite, or a percentile is not from 0 to 100;
  ///         Error(kFailedPrecondition) if 131072 metrics wait for a reduce() that never came.
  /// @cost   A comparison of the tag with the one that came at this place in earlier steps, else a
  ///         hash of it; no allocation once the tags are known.
  void addReduced(std::string_view tag, double value, std::int64_t step);
  void addReduced(std::string_view tag, double value, std::int64_t step,
                  const ReducedOptions& options);
  /// Takes any type with ScalarTraits, such as at::Tensor once <steptape/torch.h> is included.
  template <typename T, typename = RequiresScalarTraits<T>>
  void addReduced(std::string_view tag, const T& value, std::int64_t step,
                  const ReducedOptions& options = {}) {
    addReduced(tag, ScalarTraits<T>::value(value), step, options);
  }

  /// Averages what all ranks have queued for `step` and writes it on the root: the weighted mean
  /// under the tag and what else ReducedOptions asks for. All sums are in double. The order in
  /// which a rank queued its metrics does not matter. What is queued for other steps stays queued.
  ///
  /// Under RankPolicy::kPerRank each rank also writes its own mean under the same tag into its
  /// sub-run: TensorBoard then draws the ranks' curves around the job's.
  ///
  /// Under ReduceMode::kNonBlocking this call first does what finishReduce() does for the step
  /// before, errors included, and then only starts the exchange of `step`.
  ///
  /// A metric whose weights are 0 on all ranks gets no point; the first time this is told to
  /// WriterOptions::onError.
  ///
  /// Collective: every rank calls it, in the same order.
  ///
  /// @throws Error(kRankMismatch), the same on every rank, if the ranks disagree on tags,
  ///         statistics or step; it names rank, node, tag and step. What was queued is then dropped
  ///         on every rank, and the writer can be used further. Error(kDeadlineExceeded) if a rank
  ///         does not come within Communicator::timeout(). std::bad_alloc where memory is short:
  ///         the next call of reduce(), finishReduce(), flush() or close() goes on with the
  ///         exchange, so that the other ranks need not wait in vain; what it cannot write is lost.
  /// @cost   One allreduce of 16 bytes per metric, or of 48 once a metric has asked for more than
  ///         mean and sum. A second one where that changes, and where the number of metrics
  ///         outgrows 15, 31, 63, ... for the first time. With percentiles or histograms, an
  ///         allgather of 16 bytes for each such metric. Where nothing of this changes, a metric
  ///         costs nothing more here: addReduced() fills the message, the writer makes the points.
  void reduce(std::int64_t step);

  /// Waits for what reduce() has started and writes it; at once where nothing is under way, as
  /// always under ReduceMode::kBlocking. For the end of training, or before another use of the run.
  ///
  /// Collective: every rank calls it, in the same order.
  ///
  /// @throws as reduce(); the step that the error names is that of the last reduce().
  void finishReduce();

  /// Writes images that the chosen ranks have, as `<tag>/rank_00003`, each as addImage() would.
  /// They may differ in size.
  ///
  /// Collective: every rank calls it, in the same order, also those that are not chosen; what these
  /// give is not looked at.
  ///
  /// @shape  As for addImage(), and so the units.
  /// @throws Error(kInvalidArgument), the same on every rank, if a chosen rank's pixels do not fit
  ///         or a chosen rank does not exist, naming the rank that found it; nothing is written
  ///         then. Error(kRankMismatch) if the ranks differ in tag or step.
  /// @cost   Each chosen rank compresses its image here, 2 to 10 ns a byte, and the PNG travels:
  ///         less than the pixels, and the root need not compress the images of all ranks.
  void addImageFromRanks(std::string_view tag, const TensorView& pixels, std::int64_t step,
                         const ImageFromRanksOptions& options = {});
  /// As addImageFromRanks(), for texts, each as addText() would.
  void addTextFromRanks(std::string_view tag, std::string_view markdown, std::int64_t step,
                        const TextFromRanksOptions& options = {});

  /// As SummaryWriter::addScalar(); under RankPolicy::kReduced as addReduced() with weight 1.
  void addScalar(std::string_view tag, double value, std::int64_t step);
  void addScalar(std::string_view tag, double value, std::int64_t step,
                 const ScalarOptions& options);
  template <typename T, typename = RequiresScalarTraits<T>>
  void addScalar(std::string_view tag, const T& value, std::int64_t step,
                 const ScalarOptions& options = {}) {
    if (rankPolicy() == RankPolicy::kReduced) {
      addScalar(tag, ScalarTraits<T>::value(value), step, options);
    } else {
      local_->addScalar(tag, value, step, options);
    }
  }

  // The other calls of SummaryWriter, as it documents them. They log this rank's own values under
  // every policy.

  ScalarTag scalarTag(std::string_view tag, const ScalarOptions& options = {}) {
    return local_->scalarTag(tag, options);
  }
  void addScalar(ScalarTag tag, double value, std::int64_t step) {
    local_->addScalar(tag, value, step);
  }
  template <typename T, typename = RequiresScalarTraits<T>>
  void addScalar(ScalarTag tag, const T& value, std::int64_t step) {
    local_->addScalar(tag, value, step);
  }
  StepBatch atStep(std::int64_t step) { return local_->atStep(step); }
  void addScalars(std::string_view mainTag,
                  std::initializer_list<std::pair<std::string, ScalarValue>> values,
                  std::int64_t step, const ScalarOptions& options = {}) {
    local_->addScalars(mainTag, values, step, options);
  }
  void addScalars(std::string_view mainTag,
                  const std::vector<std::pair<std::string, double>>& values, std::int64_t step,
                  const ScalarOptions& options = {}) {
    local_->addScalars(mainTag, values, step, options);
  }
  template <typename T, typename = RequiresScalarTraits<T>>
  void addScalars(std::string_view mainTag, const std::vector<std::pair<std::string, T>>& values,
                  std::int64_t step, const ScalarOptions& options = {}) {
    local_->addScalars(mainTag, values, step, options);
  }
  void addHistogram(std::string_view tag, const TensorView& values, std::int64_t step,
                    const HistogramOptions& options = {}) {
    local_->addHistogram(tag, values, step, options);
  }
  void addHistogramRaw(std::string_view tag, const HistogramRaw& histogram, std::int64_t step,
                       const HistogramOptions& options = {}) {
    local_->addHistogramRaw(tag, histogram, step, options);
  }
  void addImage(std::string_view tag, const TensorView& pixels, std::int64_t step,
                const ImageOptions& options = {}) {
    local_->addImage(tag, pixels, step, options);
  }
  void addImages(std::string_view tag, const TensorView& pixels, std::int64_t step,
                 const ImagesOptions& options = {}) {
    local_->addImages(tag, pixels, step, options);
  }
  void addImages(std::string_view tag, const std::vector<TensorView>& images, std::int64_t step,
                 const ImageOptions& options = {}) {
    local_->addImages(tag, images, step, options);
  }
  void addImageWithBoxes(std::string_view tag, const TensorView& pixels, const TensorView& boxes,
                         std::int64_t step, const BoxOptions& options = {}) {
    local_->addImageWithBoxes(tag, pixels, boxes, step, options);
  }
  template <typename Figure, typename = RequiresFigureTraits<Figure>>
  void addFigure(std::string_view tag, const Figure& figure, std::int64_t step,
                 const FigureOptions& options = {}) {
    local_->addFigure(tag, figure, step, options);
  }
  template <typename Figure, typename = RequiresFigureTraits<Figure>>
  void addFigure(std::string_view tag, const std::vector<Figure>& figures, std::int64_t step,
                 const FigureOptions& options = {}) {
    local_->addFigure(tag, figures, step, options);
  }
  void addVideo(std::string_view tag, const TensorView& frames, std::int64_t step,
                const VideoOptions& options = {}) {
    local_->addVideo(tag, frames, step, options);
  }
  void addAudio(std::string_view tag, const TensorView& samples, std::int64_t step,
                const AudioOptions& options = {}) {
    local_->addAudio(tag, samples, step, options);
  }
  void addText(std::string_view tag, std::string_view markdown, std::int64_t step,
               const TextOptions& options = {}) {
    local_->addText(tag, markdown, step, options);
  }
  void addTextTable(std::string_view tag, const std::vector<std::string>& rows, std::int64_t step,
                    const TextOptions& options = {}) {
    local_->addTextTable(tag, rows, step, options);
  }
  void addTextTable(std::string_view tag, const std::vector<std::vector<std::string>>& rows,
                    std::int64_t step, const TextOptions& options = {}) {
    local_->addTextTable(tag, rows, step, options);
  }
  void addTextTable(std::string_view tag, std::initializer_list<const char*> rows,
                    std::int64_t step, const TextOptions& options = {}) {
    local_->addTextTable(tag, rows, step, options);
  }
  void addTextTable(std::string_view tag, std::initializer_list<std::vector<std::string>> rows,
                    std::int64_t step, const TextOptions& options = {}) {
    local_->addTextTable(tag, rows, step, options);
  }
  void addTensor(std::string_view tag, const TensorView& tensor, std::int64_t step,
                 const ValueOptions& options = {}) {
    local_->addTensor(tag, tensor, step, options);
  }
  void addPrCurve(std::string_view tag, const TensorView& labels, const TensorView& predictions,
                  std::int64_t step, const PrCurveOptions& options = {}) {
    local_->addPrCurve(tag, labels, predictions, step, options);
  }
  void addPrCurveRaw(std::string_view tag, const PrCurveCounts& counts, std::int64_t step,
                     const PrCurveOptions& options = {}) {
    local_->addPrCurveRaw(tag, counts, step, options);
  }
  void addMesh(std::string_view tag, const TensorView& vertices, std::int64_t step,
               const MeshOptions& options = {}) {
    local_->addMesh(tag, vertices, step, options);
  }
  void addEmbedding(std::string_view tag, const TensorView& matrix, std::int64_t step,
                    const EmbeddingOptions& options = {}) {
    local_->addEmbedding(tag, matrix, step, options);
  }
  void addEmbedding(const TensorView& matrix, const EmbeddingOptions& options = {}) {
    local_->addEmbedding(matrix, options);
  }
  void addCustomScalars(const CustomScalarsLayout& layout) { local_->addCustomScalars(layout); }
  void addCustomScalarsMultilineChart(const std::vector<std::string>& tags,
                                      const std::string& category = "default",
                                      const std::string& title = "untitled") {
    local_->addCustomScalarsMultilineChart(tags, category, title);
  }
  void addCustomScalarsMarginChart(const std::array<std::string, 3>& tags,
                                   const std::string& category = "default",
                                   const std::string& title = "untitled") {
    local_->addCustomScalarsMarginChart(tags, category, title);
  }
  void addHparams(const Hparams& hparams, const HparamMetrics& metrics = {},
                  const HparamsOptions& options = {}) {
    local_->addHparams(hparams, metrics, options);
  }
  template <typename Model, typename Input,
            typename Traits = RequiresGraphTraits<std::decay_t<Model>>>
  void addGraph(Model&& model, const Input& input, const GraphOptions& options = {}) {
    local_->addGraph(std::forward<Model>(model), input, options);
  }
  void addGraph(const event::Graph& graph, const GraphOptions& options = {}) {
    local_->addGraph(graph, options);
  }
  void addGraphStats(std::vector<event::GraphNodeStats> stats, const std::string& sessionRun) {
    local_->addGraphStats(std::move(stats), sessionRun);
  }
  void addOnnxGraph(const std::string& path, const GraphOptions& options = {}) {
    local_->addOnnxGraph(path, options);
  }
  void addSummary(event::Summary summary, std::int64_t step, const ValueOptions& options = {}) {
    local_->addSummary(std::move(summary), step, options);
  }
  void addEvent(event::Event event) { local_->addEvent(std::move(event)); }
  void resume(std::int64_t step) { local_->resume(step); }
  const std::string& logDir() const { return local_->logDir(); }
  bool isEnabled() const { return local_->isEnabled(); }
  WriterStats stats() const { return local_->stats(); }
  Status exportScalarsToJson(const std::string& path) { return local_->exportScalarsToJson(path); }

  /// As SummaryWriter::flush(), for everything this rank writes: the points of a reduce() are on
  /// disk once the root has flushed.
  ///
  /// Starts no collective, so that the root alone may call it. Under ReduceMode::kNonBlocking it
  /// waits, at most Communicator::timeout(), until the other ranks have come to the last reduce().
  ///
  /// @return as SummaryWriter::flush(); or kRankMismatch if the ranks disagreed in the last
  ///         reduce(), which the next reduce() or finishReduce() tells in full.
  Status flush();
  /// As SummaryWriter::close(), for everything this rank writes; waits as flush() does.
  Status close();

  /// This rank's own run, for code that takes a SummaryWriter&: what is logged to it is this rank's
  /// and never averaged. Not enabled where RankPolicy leaves this rank's calls out. Lives as long
  /// as this writer, also when that is moved.
  SummaryWriter& localWriter() { return *local_; }

  /// The run that holds what the ranks averaged: localWriter(), or under RankPolicy::kPerRank the
  /// job's beside the ranks' sub-runs. Not enabled on other ranks than the root. Its addScalar()
  /// writes the root's own value under every policy. Lives as long as localWriter().
  SummaryWriter& jobWriter();

  const std::shared_ptr<Communicator>& communicator() const;
  RankPolicy rankPolicy() const;

 private:
  /// Writes what is under way, and reports what was never reduced.
  void end() noexcept;

  class Impl;
  std::unique_ptr<Impl> impl_;
  SummaryWriter* local_;  // Of impl_.
};

}  // namespace steptape
