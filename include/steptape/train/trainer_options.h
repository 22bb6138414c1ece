// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/log/summary_writer.h"
#include "steptape/metrics/hang_watchdog.h"
#include "steptape/metrics/machine_metrics.h"
#include "steptape/profile/profiler.h"
#include "steptape/profile/trace.h"
#include "steptape/train/gradient_sync.h"
#include "steptape/train/learning_rate_schedule.h"
#include "steptape/train/recipe.h"

#include <ATen/core/Tensor.h>

namespace steptape {

/// Result of a metric for one batch. Sums and counts of all batches and ranks are added; the metric
/// is sum / count, a mean weighted by the counts.
struct MetricSum {
  double sum = 0;
  double count = 0;  ///< Such as the number of samples; at least 0.
};

/// A metric by which a Trainer evaluates the model, in addition to the loss.
///
///     options.metrics = {steptape::accuracyMetric()};           // of a classifier
///     options.metrics = {steptape::meanAbsoluteErrorMetric()};  // of a regression
///
///     steptape::EvaluationMetric error;  // a metric of your own
///     error.name = "squared_error";
///     error.higherIsBetter = false;
///     error.function = [](const at::Tensor& output, const at::Tensor& targets) {
///       const at::Tensor errors = (output - targets).square();
///       return steptape::MetricSum{errors.sum().item<double>(),
///                                  static_cast<double>(errors.numel())};
///     };
///     options.metrics.push_back(error);
struct EvaluationMetric {
  /// Logged as `<name>/test`. Must not be "loss", which is always logged.
  std::string name;
  /// Called for each batch, without gradients, with the model's output and the batch's targets.
  std::function<MetricSum(const at::Tensor& output, const at::Tensor& targets)> function;
  bool higherIsBetter = true;
};

/// Returns "accuracy": the fraction of samples whose largest output is at the index of their class.
///
/// @shape  `output`: (n, classes). `targets`: (n), the class numbers.
STEPTAPE_EXPORT EvaluationMetric accuracyMetric();

/// Returns "mean_absolute_error": the mean of |output - target| over all elements.
///
/// @shape  `output` and `targets` have the same shape. Otherwise fit() throws
///         Error(kInvalidArgument), since (n, 1) and (n) would broadcast to (n, n).
STEPTAPE_EXPORT EvaluationMetric meanAbsoluteErrorMetric();

/// Reason why Trainer::fit() ended. If several apply to one step, it is the last of them in this
/// order.
enum class StopReason : std::uint8_t {
  kEpochs,       ///< TrainerOptions::epochs were completed.
  kMaxSteps,     ///< TrainerOptions::maxSteps were completed.
  kMaxDuration,  ///< TrainerOptions::maxDuration had passed.
  kMonitor,      ///< The monitored metric did not improve for MonitorOptions::patience evaluations.
  kCallback,     ///< A callback called TrainingContext::stop().
  kSignal,       ///< A rank received one of TrainerOptions::stopSignals.
};

/// Returns the reason as text, such as "the time limit".
STEPTAPE_EXPORT const char* stopReasonText(StopReason reason);

/// The value of a metric over all ranks' samples.
struct MetricValue {
  std::string name;  ///< Such as "accuracy".
  double value = 0;
};

/// Result of Trainer::fit(); the same on every rank, except the times.
///
///     const steptape::TrainingResult result = trainer.fit(train, test);
///     result.metric("loss");
///     result.metric("accuracy");  // if it was in TrainerOptions::metrics
struct STEPTAPE_EXPORT TrainingResult {
  std::int64_t epochs = 0;     ///< Completed epochs, including those before a resume.
  std::int64_t step = 0;       ///< Steps done since the start of the run.
  double trainingSeconds = 0;  ///< Time in training steps, including logging, excluding evaluation.
  /// trainingSeconds scaled to one whole epoch; NaN if the length of an epoch is unknown.
  double secondsPerEpoch = 0;
  double samplesPerSecond = 0;  ///< Training samples of all ranks per second of trainingSeconds.
  /// Floating-point operations of forward and backward per sample, by FlopCounter; 0 if no operator
  /// counts.
  double flopsPerSample = 0;
  double loggingSeconds = 0;     ///< Time that this thread spent in the writer's calls.
  double checkpointSeconds = 0;  ///< Time for which checkpoints held up this thread.

  StopReason stoppedBy = StopReason::kEpochs;
  int signal = 0;  ///< The signal that stopped the run, or 0.

  /// Results of the last evaluation: "loss", then TrainerOptions::metrics in their order. Empty if
  /// the run was stopped before its first evaluation.
  std::vector<MetricValue> metrics;
  /// Returns the value of `name` in `metrics`.
  ///
  /// @throws Error(kInvalidArgument) if it was not evaluated, naming the metrics that were.
  double metric(std::string_view name) const;

  /// The best value of the monitored metric and the step after which it was measured; NaN and 0 if
  /// there is none.
  double bestValue = 0;
  std::int64_t bestStep = 0;
};

/// Selects what a Trainer prints on the root.
enum class ProgressStyle {
  kAuto,   ///< kBar if stderr is a terminal, else kLines. It rarely is one under a launcher.
  kBar,    ///< A bar with samples/s, loss and time left on stderr, and a line per epoch on stdout.
  kLines,  ///< A line per epoch on stdout.
  kNone,   ///< Nothing.
};

/// Computes the loss of a batch, averaged over its samples, as a tensor for backward().
using LossFunction = std::function<at::Tensor(const at::Tensor& output, const at::Tensor& targets)>;

/// Selects the type in which operators of the forward pass compute. Parameters, gradients and the
/// optimizer's state keep the model's type.
enum class Precision {
  kFull,  ///< The model's own type.
  /// LibTorch's autocast to bfloat16 for matrix products and convolutions: float32's range, 8 bits
  /// of precision. Faster on GPUs with tensor cores and on CPUs with bfloat16 instructions
  /// (AVX512_BF16, AMX); slower than kFull on other CPUs.
  kBfloat16,
  /// LibTorch's autocast to float16, with a scaled loss. For GPUs; slow on a CPU, and not available
  /// there before LibTorch 2.4.
  kFloat16,
};

/// How the loss is scaled under Precision::kFloat16, so that small gradients are not rounded to 0.
///
/// The averaged gradients are divided by the scale before they are clipped. If one is then infinite
/// or NaN, the optimizer skips the step, and the scale shrinks. All ranks see the same averages, so
/// they skip the same steps. A skipped step counts as a step.
///
/// @source Micikevicius et al., "Mixed Precision Training", arXiv:1710.03740, section 3.2.
struct LossScaleOptions {
  double initial = 65536;
  double growthFactor = 2;     ///< After growthSteps steps without an infinity or NaN.
  double backoffFactor = 0.5;  ///< After a step with an infinity or NaN.
  std::int64_t growthSteps = 2000;
};

/// Selects the metric that decides which model is best and when to stop.
struct MonitorOptions {
  /// "loss" or the name of one of TrainerOptions::metrics. Empty: no metric is monitored.
  std::string metric;
  /// Stop after this many consecutive evaluations without improvement. 0: never.
  std::int64_t patience = 0;
  /// Minimum difference that counts as improvement, exclusive. NaN is never an improvement.
  double minDelta = 0;
  /// Write `checkpoint_best.pt` whenever the metric improves, in addition to the other checkpoints.
  bool keepBest = false;
  /// Restore the best model and optimizer at the end and evaluate once more for
  /// TrainingResult::metrics. Requires keepBest.
  bool restoreBest = false;
};

/// Options of Trainer. Must be equal on all ranks; fit() compares them and names the difference.
struct TrainerOptions {
  // Duration.

  std::int64_t epochs = 1;

  /// Stop after this many steps since the start of the run, even in the middle of an epoch. 0: no
  /// limit.
  std::int64_t maxSteps = 0;

  /// Stop this long after the start of fit(), by the root's clock, for jobs with a time limit.
  /// Leave time for a last step, checkpoint and evaluation. 0: no limit.
  std::chrono::nanoseconds maxDuration = std::chrono::seconds(0);

  /// Signals that stop the run, on any rank. The ranks finish the step, write a checkpoint, flush
  /// the writer and return without another evaluation. Empty: no signal is caught.
  std::vector<int> stopSignals = {SIGTERM, SIGUSR1};

  /// The metric that decides which model is best and when to stop.
  MonitorOptions monitor;

  // The training step.

  /// Default: the negative log-likelihood, for a classifier that ends in log_softmax, with class
  /// numbers as targets.
  LossFunction loss;

  /// Multiply the optimizer's learning rate by the number of ranks, as scaleLearningRate() does.
  /// Cannot be combined with learningRate.
  bool scaleLearningRate = false;

  /// Schedule of the learning rates, applied at every step. The base rates are the optimizer's
  /// rates when the Trainer is constructed.
  std::optional<LearningRateScheduleOptions> learningRate;

  /// Options of the gradient average, including GradientSyncOptions::accumulationSteps, the batches
  /// per step, and GradientSyncOptions::maxNorm, which clips the gradients. Batches at the end of
  /// an epoch that do not fill a step are skipped.
  GradientSyncOptions gradientSync;

  Precision precision = Precision::kFull;
  LossScaleOptions lossScale;

  /// Move the model to this rank's GPU, selected by deviceForLocalRank(), if there is one. false:
  /// the model stays where it is. Each batch is moved to the model's device in both cases. On a
  /// device a step is logged one step later, so that the host does not wait for it.
  bool useDevices = false;

  /// Calls allowTf32() for the whole process. Unset: LibTorch's setting.
  std::optional<bool> allowTf32;

  /// Allow different numbers of training batches on the ranks. A rank without further batches waits
  /// for the others; gradients are averaged over the ranks that have data.
  bool unevenBatches = false;

  // Evaluation.

  /// Metrics besides the loss, over every rank's share of the test data, such as
  /// {accuracyMetric()}.
  std::vector<EvaluationMetric> metrics;

  /// Number of epochs between evaluations. 0: only after the last step, which is always evaluated.
  std::int64_t evaluateEveryEpochs = 1;
  /// Number of steps between further evaluations. 0: none.
  std::int64_t evaluateEverySteps = 0;

  // Checkpoints.

  /// Directory in which a CheckpointStore writes after every epoch and after the last step. Empty:
  /// no checkpoints.
  std::string checkpointDirectory;
  std::int64_t keptCheckpoints = 2;  ///< Besides the best one.
  /// Also write a checkpoint every so many steps, or after this time by the root's clock. 0: no.
  std::int64_t checkpointEverySteps = 0;
  std::chrono::nanoseconds checkpointPeriod = std::chrono::seconds(0);
  /// Continue training while a thread of the root writes, see CheckpointStore::saveAsync(). false:
  /// all ranks wait for the root's disk. A callback that is called after the checkpoint and before
  /// the next optimizer step waits for the copy, because it may change the model.
  bool asyncCheckpoints = true;

  /// Resume from the newest checkpoint, or the previous one if it is damaged, at its step. If there
  /// is none, start from scratch.
  bool resume = false;

  // Logs.

  /// Write the text `configuration`: describeRun(), these options, and `configuration`.
  bool logConfiguration = true;
  DescriptionRows configuration;

  /// Write the sample-weighted mean over all ranks as `loss/train`, the extremes as
  /// `loss/train/min` and `loss/train/max`, and a chart of that band. The losses travel during the
  /// exchange of the gradients. false: the root's loss. Under RankPolicy::kPerRank each rank's
  /// sub-run has its own loss in both cases.
  bool reduceTrainLoss = true;

  /// Number of steps between points of the throughput and reports of the ranks' time for input,
  /// forward, backward, optimizer and waiting, and of the slowest rank; see StragglerReport. 0:
  /// none, and the throughput once an epoch.
  ///
  /// The throughput is that of all ranks, as `samples_per_second` and `teraflops_per_second`. The
  /// floating-point operations of a sample, forward and backward, are counted by FlopCounter in the
  /// first step of each epoch.
  std::int64_t stragglerSteps = 50;

  /// Log processor, memory, storage, network and GPU of the ranks as `machine/...`; see
  /// MachineMetrics. The GPU is the one that the rank trains on. `machineMetrics.emplace()` logs
  /// about every 10 s. Unset: none.
  std::optional<MachineMetricsOptions> machineMetrics;

  /// Reports that no step has ended for a long time, with what each rank does; see HangWatchdog.
  /// Unset: nothing is reported.
  std::optional<HangWatchdogOptions> hangWatchdog = HangWatchdogOptions{};

  /// Tokens in a sample, such as the length of a language model's sequences. If set, the speed is
  /// printed and logged as tokens per second, as `tokens_per_second` instead of
  /// `samples_per_second`. 0: samples per second.
  std::int64_t tokensPerSample = 0;

  /// Write histograms of all parameters and gradients after every epoch.
  bool histograms = true;

  /// Number of steps between points of the Euclidean norm of each parameter after the step, as
  /// `parameter_norms/<parameter>`, and of its averaged gradient before it is clipped, as
  /// `parameter_gradient_norms/<parameter>`. Also logs the norms of all together,
  /// `optimizer/parameter_norm` and `optimizer/gradient_norm`. The root computes them and waits for
  /// its device once. 0: none.
  std::int64_t parameterNormSteps = 0;

  /// Number of steps of the first epoch to profile by operator, with shapes and memory, on all
  /// ranks. They begin after kStepsBeforeProfile. The root writes tables of the slowest operators,
  /// by shape, by module and by rank; each rank writes traces to the log directory, see
  /// ProfilerOptions::logDir. 0: none.
  std::int64_t profiledSteps = 0;

  /// Profile on demand while the job runs, for example after `kill -USR2 PID` for any one rank: the
  /// next `profiledSteps` steps (kStepsPerTriggeredProfile if that is 0) on all ranks. The signal
  /// must not be one of `stopSignals`.
  ProfilerTrigger profileTrigger;

  /// Maximum share of the run time, such as 0.01, for profiling operators during the whole run
  /// outside those steps; that share limits how many steps are recorded. The root writes a table
  /// every kStepsPerProfile steps. 0: off.
  double profilingShare = 0.0;

  /// See ProfilerOptions::onTrace; called for `profiledSteps` and `profileTrigger`.
  std::function<void(const Trace& trace, SummaryWriter* writer, std::int64_t step)> onTrace =
      nullptr;

  /// Also logs the tables of StragglerReport (some 20 curves) and of profiles (some 50 curves) as
  /// scalars, the time of each epoch as `epoch_seconds`, and that of each checkpoint as
  /// `checkpoint/stall_seconds` and `checkpoint/write_seconds`; see CheckpointTimes.
  bool detailScalars = false;

  ProgressStyle progress = ProgressStyle::kAuto;

  /// Also print from every rank, with rankPrefix(): at the start where it runs, and after each
  /// epoch its own loss and speed. A line is printed in one piece.
  bool verbose = false;
};

/// Number of steps before the first profiled one: the first steps include allocations.
inline constexpr std::int64_t kStepsBeforeProfile = 10;

/// Number of steps in a profile of TrainerOptions::profileTrigger, if profiledSteps is 0.
inline constexpr std::int64_t kStepsPerTriggeredProfile = 3;

/// Number of steps in a table of TrainerOptions::profilingShare.
inline constexpr std::int64_t kStepsPerProfile = 500;

/// Describes the options for the text of a run; a function is described by whether it is set.
STEPTAPE_EXPORT DescriptionRows describeOptions(const TrainerOptions& options);

}  // namespace steptape
