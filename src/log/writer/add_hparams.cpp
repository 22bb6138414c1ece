// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "steptape/log/summary_writer.h"

#include "log/writer/call_site.h"
#include "log/writer/captured_value.h"
#include "log/writer/writer_core.h"
#include "values/kinds/hparams.h"

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

/// A scalar at the last step of its series, or at the first step of this run if the series has
/// none.
void addScalarAtLastStep(detail::log::WriterCore& core, std::uint32_t series, double value,
                         std::optional<double> wallTime) {
  if (series == 0) {
    return;
  }
  detail::log::CapturedValue captured;
  captured.step = core.context().options().purgeStep.value_or(0);
  captured.wallTime = wallTime;
  captured.scalars = 1;
  captured.order = detail::log::CapturedValue::Order::kInPlace;
  captured.work = [series, value](const detail::log::CapturedValue::Place& place) {
    detail::log::RegisteredSeries* const known = place.seriesOf(series);
    known->stream->addScalarAtLastStep(&known->series, static_cast<float>(value), place.step,
                                       place.wallTime, place.exact);
    return Status();
  };
  core.handOver(std::move(captured));
}

}  // namespace

void SummaryWriter::addHparams(const Hparams& hparams, const HparamMetrics& metrics,
                               const HparamsOptions& options) {
  detail::log::CallSite("addHparams").run([&] {
    detail::values::checkHparams(hparams, metrics, options);
  });
  if (!core_->isActive()) {
    return;
  }
  if (core_->session().begin(promisedMetrics(options))) {
    try {
      core_->addValues(
          0, options.wallTime, 0, [hparams, options, startTime = core_->context().startTime()] {
            std::vector<event::Value> values;
            if (options.experiment) {
              values.push_back(detail::values::hparamsExperimentValue(*options.experiment));
            }
            values.push_back(
                detail::values::sessionStartValue(hparams, options.groupName, startTime));
            return values;
          });
    } catch (...) {
      core_->session().abandon();
      throw;
    }
  } else {
    core_->context().reporter().reportOnce(
        "addHparams: got another call for " + core_->context().directory() +
        "; expected one: TensorBoard keeps the first hyperparameters of a run, only the metrics "
        "were recorded");
  }
  for (const auto& [tag, value] : metrics) {
    addScalarAtLastStep(*core_, core_->series().of(tag), value, options.wallTime);
  }
}

}  // namespace steptape
