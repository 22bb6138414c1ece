// SPDX-License-Identifier: Apache-2.0
#include "steptape/metrics/straggler_report.h"

#include <cmath>
#include <cstring>
#include <string_view>

#include "base/got_expected.h"
#include "metrics/watch/straggler_analysis.h"
#include "process/blackbox/state_page.h"

namespace steptape {
namespace {

constexpr char kPrefix[] = "straggler";

const StragglerReportOptions& checked(const StragglerReportOptions& options) {
  if (options.everySteps < 1) {
    detail::base::reject("everySteps = " + std::to_string(options.everySteps), "at least 1",
                         "StragglerReport");
  }
  if (std::isnan(options.threshold)) {
    detail::base::reject("threshold = NaN", "a number", "StragglerReport");
  }
  return options;
}

std::vector<detail::metrics::TimedPart> timedParts() {
  std::vector<detail::metrics::TimedPart> parts;
  for (std::size_t i = 0; i < kStepParts; ++i) {
    const auto part = static_cast<StepPart>(i);
    parts.push_back({stepPartName(part), part != StepPart::kWait});
  }
  return parts;
}

detail::metrics::PartSeconds decode(const std::string& bytes, std::int64_t steps) {
  StepTimes::Nanos nanos{};
  std::memcpy(nanos.data(), bytes.data(), sizeof nanos);
  detail::metrics::PartSeconds seconds;
  for (const std::int64_t ofPart : nanos) {
    seconds.push_back(static_cast<double>(ofPart) * 1e-9 / static_cast<double>(steps));
  }
  return seconds;
}

}  // namespace

StragglerReport::StragglerReport(DistributedWriter& writer, const StragglerReportOptions& options)
    : communicator_(writer.communicator()),
      writer_(writer.jobWriter()),
      options_(checked(options)),
      times_(options.clock),
      nodeByRank_(communicator_->gatherObject(communicator_->nodeName(), 0)) {}

StragglerReport::~StragglerReport() {
  try {
    finish();
  } catch (...) {
    // A destructor cannot throw; the communicator reports the error at the next operation.
  }
}

void StragglerReport::endStep(std::int64_t step) {
  detail::process::noteStep(step);
  if (isUnderWay_ && hasArrived()) {
    finish();
  }
  if (++stepsSince_ < options_.everySteps) {
    return;
  }
  finish();
  stepsSince_ = 0;
  ownNanos_ = times_.take();
  gatheredStep_ = step;
  isUnderWay_ = true;
  CollectiveOptions options;
  options.name = "straggler report at step " + std::to_string(step);
  gather_ = communicator_->gatherObjectAsync(
      std::string_view(reinterpret_cast<const char*>(ownNanos_.data()), sizeof ownNanos_),
      nanosByRank_, 0, options);
  if (options_.mode == ReduceMode::kBlocking) {
    finish();
  }
}

bool StragglerReport::hasArrived() {
  // If this throws, nothing is left to finish.
  isUnderWay_ = false;
  const bool isDone = gather_.isDone();
  isUnderWay_ = true;
  return isDone;
}

void StragglerReport::finish() {
  if (!isUnderWay_) {
    return;
  }
  isUnderWay_ = false;
  gather_.wait();
  if (writer_.isEnabled()) {
    write();
  }
}

void StragglerReport::write() {
  std::vector<detail::metrics::PartSeconds> secondsByRank;
  for (const std::string& bytes : nanosByRank_) {
    secondsByRank.push_back(decode(bytes, options_.everySteps));
  }
  const detail::metrics::StragglerAnalysis analysis =
      detail::metrics::analyzeStragglers(timedParts(), secondsByRank);
  {
    StepBatch batch = writer_.atStep(gatheredStep_);
    detail::metrics::addSlowest(&batch, kPrefix, analysis);
    if (options_.detailScalars) {
      detail::metrics::addParts(&batch, kPrefix, analysis);
    }
  }
  writer_.addText(std::string(kPrefix) + "/parts",
                  detail::metrics::partTable(analysis, nodeByRank_), gatheredStep_);
  if (analysis.slowdown > options_.threshold) {
    writer_.addText(std::string(kPrefix) + "/report",
                    detail::metrics::describeStraggler(analysis, secondsByRank, nodeByRank_),
                    gatheredStep_);
  }
}

}  // namespace steptape
