// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/parallel/gradient_sync.h"
#include "steptape/profile/profiler_options.h"
#include "steptape/recipe/learning_rate_schedule.h"
#include "steptape/recipe/recipe.h"
#include "steptape/trace/trace.h"
#include "steptape/trainer/evaluation_metric.h"
#include "steptape/trainer/training_result.h"
#include "steptape/writer/summary_writer.h"

#include <ATen/core/Tensor.h>

namespace steptape {

/// What a Trainer prints on the root.
enum class ProgressStyle {
  kAuto,   ///< kBar if stderr is a terminal, else kLines. Under a launcher it rarely is one.
  kBar,    ///< A bar with samples/s, loss and time left on stderr, and a line per epoch on stdout.
  kLines,  ///< A line per epoch on stdout.
  kNone,   ///< Nothing.
};

/// The loss of a batch, averaged over its samples, as a tensor to call backward() on.
using LossFunction = std::function<at::Tensor(const at::Tensor& output, const at::Tensor& targets)>;

/// What the operators of the forward pass calculate in. Parameters, gradients and the optimizer's
/// state keep the type of the model.
enum class Precision {
  kFull,  ///< The model's own type.
  /// LibTorch's autocast to bfloat16, for matrix products and convolutions: float32's range, 8 bits
  /// of precision. On a GPU with tensor cores a gain; on a CPU only where it has bfloat16
  /// instructions (AVX512_BF16, AMX), and otherwise slower than kFull.
  kBfloat16,
  /// LibTorch's autocast to float16, with a scaled loss. For GPUs; on a CPU it is slow, and
  /// LibTorch before 2.4 has none.
  kFloat16,
};

/// How the loss is scaled under Precision::kFloat16, so that small gradients are not rounded to 0.
///
/// The gradients are divided by the scale once the ranks have averaged them, and before they are
/// clipped. Where one is then infinite or NaN, the optimizer makes no step and the scale shrinks.
/// All ranks see the same averages, so that all leave out the same step; it counts in every other
/// way.
///
/// @source Micikevicius et al., "Mixed Precision Training", arXiv:1710.03740, section 3.2.
struct LossScaleOptions {
  double initial = 65536;
  double growthFactor = 2;     ///< After growthSteps steps without an infinity.
  double backoffFactor = 0.5;  ///< After a step with one.
  std::int64_t growthSteps = 2000;
};

/// Which metric decides what the best model is, and when to stop.
struct MonitorOptions {
  /// "loss" or the name of one of TrainerOptions::metrics. Empty: none is watched.
  std::string metric;
  /// Stop after this many evaluations in a row without a better value. 0: never.
  std::int64_t patience = 0;
  /// Differences up to this are no improvement. NaN never is one.
  double minDelta = 0;
  /// Write `checkpoint_best.pt` beside the other checkpoints whenever the metric is better than
  /// before.
  bool keepBest = false;
  /// End with that model and optimizer: the model is judged once more, and TrainingResult::metrics
  /// are its own. Needs keepBest.
  bool restoreBest = false;
};

/// How a Trainer trains. The same on every rank; fit() compares, and names what differs.
struct TrainerOptions {
  // How long.

  std::int64_t epochs = 1;

  /// Stop after this many steps since the start of the run, in the middle of an epoch if need be.
  /// 0: no limit.
  std::int64_t maxSteps = 0;

  /// Stop so many seconds after fit() began, by the root's clock, as a job with a time limit
  /// must; leave time for a last step, checkpoint and evaluation. 0: no limit.
  double maxSeconds = 0;

  /// Signals to stop at, on whichever rank they come: the ranks finish the step, write a
  /// checkpoint, flush the writer and return without another evaluation. Empty: none is caught.
  std::vector<int> stopSignals = {SIGTERM, SIGUSR1};

  /// The metric that says which model is best, and whether to go on.
  MonitorOptions monitor;

  // What a step does.

  /// Unset: the negative log-likelihood, for a classifier that ends in log_softmax, with the
  /// numbers of the classes as targets.
  LossFunction loss;

  /// Multiply the optimizer's learning rate by the number of ranks, as scaleLearningRate(). Not
  /// together with learningRate.
  bool scaleLearningRate = false;

  /// A schedule of the learning rates, applied at every step. The optimizer's rates at the
  /// Trainer's construction are the base rates.
  std::optional<LearningRateOptions> learningRate;

  /// Among others GradientSyncOptions::accumulationSteps, the batches that a step learns from, and
  /// GradientSyncOptions::maxNorm, which clips the gradients. Batches at the end of an epoch that
  /// fill no step are left out.
  GradientSyncOptions gradientSync;

  Precision precision = Precision::kFull;
  LossScaleOptions lossScale;

  /// Move the model to this rank's GPU, as deviceForLocalRank() deals them, if there is one. false:
  /// it stays where it is. Either way each batch is brought to where the model is.
  bool useDevices = false;

  /// As allowTf32(), for the whole process; unset: as LibTorch has it.
  std::optional<bool> allowTf32;

  /// Whether the ranks may have different numbers of training batches. A rank that has no more
  /// waits for the others: the average of the gradients is over those that have.
  bool unevenBatches = false;

  // Evaluation.

  /// What to judge the model by, besides the loss, on every rank's share of the test data. Such as
  /// {accuracyMetric()}.
  std::vector<EvaluationMetric> metrics;

  /// Evaluate behind every so many epochs. 0: only behind the last step, which is evaluated anyway.
  std::int64_t evaluateEveryEpochs = 1;
  /// Evaluate behind every so many steps, too. 0: no.
  std::int64_t evaluateEverySteps = 0;

  // Checkpoints.

  /// Where a CheckpointStore writes after every epoch and after the last step. Empty: nowhere.
  std::string checkpointDirectory;
  std::int64_t keptCheckpoints = 2;  ///< Beside the best one.
  /// And every so many steps, or seconds by the root's clock. 0: no.
  std::int64_t checkpointEverySteps = 0;
  double checkpointEverySeconds = 0;

  /// Go on from the newest checkpoint, at the step where it was written, or from the one before it
  /// if that is damaged. Where there is none yet, start.
  bool resume = false;

  // Logs.

  /// Write the text `configuration`: describeRun(), these options, and `configuration`.
  bool logConfiguration = true;
  DescriptionRows configuration;

  /// Write as `loss/train` the mean over all ranks, weighted by samples, and as `loss/train/min`
  /// and `loss/train/max` the band around it, with a chart of that. The losses travel while the
  /// gradients are exchanged. false: the root's loss alone. Under RankPolicy::kPerRank each rank's
  /// own loss is in its sub-run anyway.
  bool reduceTrainLoss = true;

  /// Every so many steps, write `samples_per_second`, what each rank's input, forward, backward,
  /// optimizer and waiting took, and which rank holds up the others; see StragglerReport. 0: no.
  std::int64_t stragglerSteps = 50;

  /// Write histograms of every parameter and gradient after every epoch.
  bool histograms = true;

  /// Time this many steps of the first epoch operator by operator, with shapes and memory, on all
  /// ranks. The root writes tables of the slowest, by shape, by module and by rank; each rank
  /// writes traces to the log directory, see ProfilerOptions::logDir. They begin after
  /// kStepsBeforeProfile. 0: none.
  std::int64_t profiledSteps = 0;

  /// Do the same whenever the running job is told to, such as by `kill -USR2 PID`: the next
  /// `profiledSteps` steps, or kStepsPerTriggeredProfile if that is 0, on all ranks, whichever was
  /// told. The signal must be none of `stopSignals`.
  ProfilerTrigger profileTrigger;

  /// Time operators during the whole run, outside of those steps, at a cost of at most this share
  /// of it, such as 0.01: as many steps are recorded as that allows. The root writes a table every
  /// kStepsPerProfile steps. 0: no.
  double profilingShare = 0.0;

  /// See ProfilerOptions::onTrace; of `profiledSteps` and `profileTrigger`.
  std::function<void(const Trace& trace, SummaryWriter* writer, std::int64_t step)> onTrace =
      nullptr;

  /// Whether what is in the tables of StragglerReport and of profiles is also logged as scalars,
  /// and the time of each epoch as `epoch_seconds`: some 20 curves for the first and some 50 for
  /// the second.
  bool detailScalars = false;

  ProgressStyle progress = ProgressStyle::kAuto;
};

/// Steps that a profile leaves out, because the first ones pay for allocations.
inline constexpr std::int64_t kStepsBeforeProfile = 10;

/// Steps in a profile of TrainerOptions::profileTrigger, unless profiledSteps is set.
inline constexpr std::int64_t kStepsPerTriggeredProfile = 3;

/// Steps in a table of TrainerOptions::profilingShare.
inline constexpr std::int64_t kStepsPerProfile = 500;

/// What the options say, for the text of a run; functions by whether they are set.
STEPTAPE_EXPORT DescriptionRows describeOptions(const TrainerOptions& options);

}  // namespace steptape
