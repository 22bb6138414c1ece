// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "steptape/summary/hparams.h"
#include "steptape/writer/summary_writer.h"

#include "writer/writer_core.h"

namespace steptape {
namespace {

std::vector<std::string> promisedMetrics(const HparamsOptions& options) {
  std::vector<std::string> tags;
  if (options.experiment) {
    for (const HparamMetricInfo& metric : options.experiment->metrics) {
      tags.push_back(metric.tag);
    }
  }
  return tags;
}

}  // namespace

void SummaryWriter::addHparams(const Hparams& hparams, const HparamMetrics& metrics,
                               const HparamsOptions& options) {
  checkHparams(hparams, metrics, options);
  if (!core_->isActive()) {
    return;
  }
  if (core_->session().begin(promisedMetrics(options))) {
    try {
      core_->addValues(0, options.wallTime, 0, [hparams, options, startTime = core_->startTime()] {
        std::vector<Value> values;
        if (options.experiment) {
          values.push_back(hparamsExperimentValue(*options.experiment));
        }
        values.push_back(sessionStartValue(hparams, options.groupName, startTime));
        return values;
      });
    } catch (...) {
      core_->session().abandon();
      throw;
    }
  } else {
    core_->reporter().reportOnce(
        "addHparams() was called again for " + core_->directory() +
        ": TensorBoard keeps a run's first hyperparameters; only the metrics were taken");
  }
  for (const auto& [tag, value] : metrics) {
    core_->addScalarAtLastStep(core_->series(tag), value, options.wallTime);
  }
}

}  // namespace steptape
