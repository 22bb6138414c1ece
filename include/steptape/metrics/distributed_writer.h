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
#include "steptape/log/summary_writer.h"
#include "steptape/log/writer_options.h"
#include "steptape/ranks/communicator.h"

namespace steptape {

/// Selects whose calls a DistributedWriter writes, and where. Metrics passed to addReduced() are
/// averaged under every policy and written once, into the job's run.
enum class RankPolicy {
  /// Writes the root's calls; the other ranks' calls are no-ops. One event file for the job.
  kRootOnly,
  /// Writes every rank's calls, each into a sub-run of its own, rankRunName(). One event file per
  /// rank. For finding the rank that differs.
  kPerRank,
  /// As kRootOnly, but addScalar() means addReduced(), so no rank's value stands for the job's.
  kReduced,
};

/// Returns the sub-run of a rank under RankPolicy::kPerRank, such as "rank_00003". Names sort by
/// rank.
STEPTAPE_EXPORT std::string rankRunName(int rank);

/// Selects when DistributedWriter::reduce() waits for the other ranks.
enum class ReduceMode {
  kBlocking,  ///< In the call itself: the step's points are written when it returns.
  /// In the next call: metrics of one step travel while the next step is computed, and reduce()
  /// usually does not wait. Points and errors appear one step later.
  kNonBlocking,
};

/// Options of DistributedWriter. `writer` is passed to each rank's SummaryWriter.
struct DistributedWriterOptions {
  RankPolicy rankPolicy = RankPolicy::kRootOnly;
  ReduceMode reduceMode = ReduceMode::kBlocking;  ///< Equal on all ranks.
  /// `enabled = false` makes the writers of all ranks no-ops; reduce() stays a collective.
  WriterOptions writer = {};
};

/// Options of DistributedWriter::addImageFromRanks(). `ranks` must be equal on all ranks. Each rank
/// uses its own `dataFormat`; the other options are the root's.
struct ImageFromRanksOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string description = {};
  std::string dataFormat = "CHW";  ///< Order of the dimensions; see imagePixels().
  std::vector<int> ranks = {};     ///< Ranks whose images are written; empty: all.
};

/// Options of DistributedWriter::addTextFromRanks(). `ranks` must be equal on all ranks; the other
/// options are the root's.
struct TextFromRanksOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string description = {};
  std::vector<int> ranks = {};  ///< Ranks whose texts are written; empty: all.
};

/// Options of DistributedWriter::addReduced(): the weight of a value, and the statistics to write
/// besides the mean.
///
/// All ranks must ask for the same statistics of a tag. Weights may differ. Wall time, name,
/// description, the list of percentiles and the band are the root's.
///
/// Mean and sum need 16 bytes of the step's allreduce; min, max, std and argmaxRank 48. Percentiles
/// and the histogram need every rank's value: a further 16 bytes from each rank to all.
struct ReducedOptions {
  std::optional<double> wallTime = std::nullopt;  ///< As in ScalarOptions; unset: when written.
  std::string displayName = {};
  std::string description = {};

  /// Weight of this value in the mean, such as the number of samples it averages; finite and >= 0.
  /// 0: this rank has no value.
  double weight = 1;

  bool min = false;         ///< Also writes the smallest value, as `<tag>/min`.
  bool max = false;         ///< Also writes the largest value, as `<tag>/max`.
  bool std = false;         ///< Also writes the weighted standard deviation, as `<tag>/std`.
  bool argmaxRank = false;  ///< Also writes the rank with the maximum, as `<tag>/argmax_rank`.
  bool sum = false;         ///< Also writes the sum of weight * value, as `<tag>/sum`.

  /// Also writes these percentiles of the ranks' values, from 0 to 100; 50 as `<tag>/p50`. A
  /// percentile p is the smallest rank's value v such that the ranks with values up to v hold at
  /// least p % of the weight. A NaN on any rank makes all percentiles NaN.
  ///
  /// @source numpy.percentile with method "inverted_cdf" and weights.
  std::vector<double> percentiles = {};

  /// Also writes the distribution of the ranks' values as the histogram `<tag>/ranks`. Each rank
  /// with a value counts once, in 30 buckets of equal width from the smallest to the largest value.
  bool perRankHistogram = false;

  /// Also writes minimum and maximum, and charts the mean inside that band on TensorBoard's
  /// custom-scalars page. The chart has the tag's name, in the category of the tag's first part,
  /// and is added to the layout passed to addCustomScalars().
  bool band = false;

  /// Returns options with everything above, and the percentiles 50, 90 and 99.
  STEPTAPE_EXPORT static ReducedOptions all();
};

/// Logs a job of several ranks: values over all ranks instead of one rank's values.
///
///     steptape::DistributedWriter writer("runs/exp", world);
///     writer.addScalar("lr", lr, step);             // the root's own value
///     steptape::ReducedOptions options;
///     options.weight = batchSize;
///     writer.addReduced("loss", loss, step, options);   // queued on every rank ...
///     writer.reduce(step);                              // ... averaged over all, in one allreduce
///
/// It has every call of SummaryWriter. Each works on every rank, so no `if (rank == 0)` is needed;
/// RankPolicy decides which ranks' calls are written. The root alone writes averages, once.
///
/// It is not a SummaryWriter, because a SummaryWriter& could not average. Pass localWriter() or
/// jobWriter() to code that takes one, such as writeTraceSummary().
///
/// The destructor starts no collective. Under ReduceMode::kNonBlocking it waits, at most
/// Communicator::timeout(), for ranks that have not reached the last reduce() yet. Values that were
/// queued but not reduced are lost; the writer counts them and reports them once through
/// WriterOptions::onError.
///
/// @threads addScalar() and the other calls of SummaryWriter are thread-safe, except addScalar()
///         with a tag's name under RankPolicy::kReduced, and flush() and close() under
///         ReduceMode::kNonBlocking. Those, addReduced(), reduce(), the other collectives,
///         construction, moving and destruction are not thread-safe: only the communicator's
///         thread, one at a time.
class STEPTAPE_EXPORT DistributedWriter {
 public:
  /// Opens the run. The root's `logDir` is used, so the ranks' directory names may differ.
  ///
  /// Collective. If one rank cannot start, all ranks throw.
  ///
  /// @throws Error(kIoError) on every rank, naming the rank that cannot create its directory or
  ///         file; Error(kInvalidArgument) if the communicator is null or the directory is empty.
  /// @cost   Two or three small collectives.
  DistributedWriter(std::string logDir, std::shared_ptr<Communicator> communicator,
                    DistributedWriterOptions options = {});
  DistributedWriter(DistributedWriter&&) noexcept;
  /// Ends the writer that is replaced, as its destructor does.
  DistributedWriter& operator=(DistributedWriter&&) noexcept;
  ~DistributedWriter();

  /// Queues this rank's value of a metric for reduce(step).
  ///
  /// Several values of one tag and step count separately, each with its weight. A rank without a
  /// value passes weight 0; it must not skip the call. NaN and infinities propagate to the mean.
  ///
  /// @throws Error(kInvalidArgument) if `tag` is empty, the weight is negative or not finite, the
  ///         wall time is not finite, or a percentile is outside 0 to 100;
  ///         Error(kFailedPrecondition) if 131072 metrics are queued without a reduce().
  /// @cost   A comparison of the tag with the one at this position in earlier steps, otherwise a
  ///         hash of it; no allocation once the tags are known.
  void addReduced(std::string_view tag, double value, std::int64_t step);
  void addReduced(std::string_view tag, double value, std::int64_t step,
                  const ReducedOptions& options);
  /// Takes any type with ScalarTraits, such as at::Tensor after `#include <steptape/torch.h>`.
  template <typename T, typename = RequiresScalarTraits<T>>
  void addReduced(std::string_view tag, const T& value, std::int64_t step,
                  const ReducedOptions& options = {}) {
    addReduced(tag, ScalarTraits<T>::value(value), step, options);
  }

  /// Averages the values that all ranks have queued for `step`. The root writes the weighted mean
  /// under the tag, and the statistics that ReducedOptions asks for. All sums are in double. Ranks
  /// may queue their metrics in different orders. Values queued for other steps stay queued.
  ///
  /// Under RankPolicy::kPerRank each rank also writes its own mean under the same tag into its
  /// sub-run, so TensorBoard draws the ranks' curves next to the job's.
  ///
  /// Under ReduceMode::kNonBlocking this call first finishes the previous step as finishReduce()
  /// does, including its errors, and then only starts the exchange of `step`.
  ///
  /// A metric with weight 0 on all ranks gets no point; the first time is reported through
  /// WriterOptions::onError.
  ///
  /// Collective: every rank calls it, in the same order.
  ///
  /// @throws Error(kRankMismatch), the same on every rank, if the ranks disagree on tags,
  ///         statistics or step, naming rank, node, tag and step. Every rank then discards its
  ///         queued values; the writer stays usable. Error(kDeadlineExceeded) if a rank does not
  ///         arrive within Communicator::timeout(). std::bad_alloc if memory is short: the next
  ///         reduce(), finishReduce(), flush() or close() completes the exchange, so that other
  ///         ranks do not wait in vain; values that it cannot write are lost.
  /// @cost   One allreduce of 16 bytes per metric, or 48 once a metric asks for more than mean and
  ///         sum. A second allreduce when that changes, and when the number of metrics first
  ///         exceeds 15, 31, 63, and so on. Percentiles and histograms add an allgather of 16 bytes
  ///         per such metric. If nothing of this changes, a metric costs nothing more here:
  ///         addReduced() fills the message, and the writer makes the points.
  void reduce(std::int64_t step);

  /// Waits for the exchange that reduce() has started and writes its results; returns immediately
  /// if none is in flight, as always under ReduceMode::kBlocking. Call it at the end of training,
  /// or before another use of the run.
  ///
  /// Collective: every rank calls it, in the same order.
  ///
  /// @throws Error as for reduce(), naming the step of the last reduce().
  void finishReduce();

  /// Writes the images of the chosen ranks as `<tag>/rank_00003`, each as addImage() would. Their
  /// sizes may differ.
  ///
  /// Collective: every rank calls it, in the same order. Pixels of ranks that are not chosen are
  /// ignored.
  ///
  /// @shape  As for addImage(), and so the units.
  /// @throws Error(kInvalidArgument), the same on every rank, if a chosen rank does not exist or
  ///         its pixels are invalid, naming the rank that detected it; nothing is written then.
  ///         Error(kRankMismatch) if the ranks differ in tag or step.
  /// @cost   Each chosen rank compresses its image in this call, 2 to 10 ns per byte, and sends the
  ///         PNG: less data than the pixels, and the root need not compress all images.
  void addImageFromRanks(std::string_view tag, const TensorView& pixels, std::int64_t step,
                         const ImageFromRanksOptions& options = {});
  /// Writes the texts of the chosen ranks as addImageFromRanks() does images, each as addText()
  /// would.
  void addTextFromRanks(std::string_view tag, std::string_view markdown, std::int64_t step,
                        const TextFromRanksOptions& options = {});

  /// As SummaryWriter::addScalar(); under RankPolicy::kReduced, as addReduced() with weight 1.
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

  // The other calls of SummaryWriter, with the same documentation. They log this rank's own values
  // under every policy.

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
  /// Not collective. Every rank may call it. Only the ranks that write by RankPolicy run the
  /// model, so its forward pass must not make collectives: call eval() on a model with
  /// SyncBatchNorm.
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
  void notify(std::string_view event, std::string_view message) { local_->notify(event, message); }
  const std::string& logDir() const { return local_->logDir(); }
  bool isEnabled() const { return local_->isEnabled(); }
  WriterStats stats() const { return local_->stats(); }
  Status exportScalarsToJson(const std::string& path) { return local_->exportScalarsToJson(path); }

  /// As SummaryWriter::flush(), for everything this rank writes. The points of a reduce() are on
  /// disk once the root has flushed.
  ///
  /// Starts no collective, so the root alone may call it. Under ReduceMode::kNonBlocking it waits,
  /// at most Communicator::timeout(), until the other ranks have reached the last reduce().
  ///
  /// @return as SummaryWriter::flush(); kRankMismatch if the ranks disagreed in the last reduce().
  ///         The next reduce() or finishReduce() throws the full error.
  Status flush();
  /// As SummaryWriter::close(), for everything this rank writes. Waits as flush() does.
  Status close();

  /// Returns this rank's own run, for code that takes a SummaryWriter&. Values logged to it are
  /// never averaged. Disabled if RankPolicy ignores this rank's calls. Valid as long as this
  /// object, also after it is moved.
  SummaryWriter& localWriter() { return *local_; }

  /// Returns the run that holds the averages: localWriter(), or under RankPolicy::kPerRank the
  /// job's run next to the ranks' sub-runs. Disabled on ranks other than the root. Its addScalar()
  /// writes the root's own value under every policy. Valid as long as localWriter().
  SummaryWriter& jobWriter();

  const std::shared_ptr<Communicator>& communicator() const;
  RankPolicy rankPolicy() const;

 private:
  /// Writes the exchange in flight, and reports values that were never reduced.
  void end() noexcept;

  class Impl;
  std::unique_ptr<Impl> impl_;
  SummaryWriter* local_;  // Of impl_.
};

}  // namespace steptape
