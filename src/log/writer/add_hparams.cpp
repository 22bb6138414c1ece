// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "steptape/log/summary_writer.h"

#include "log/writer/call_site.h"
#include "log/writer/captured_value.h"
#include "log/writer/run_client.h"
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
void addScalarAtLastStep(detail::log::RunClient& client, std::uint32_t series, double value,
                         std::optional<double> wallTime) {
  if (series == 0) {
    return;
  }
  detail::log::CapturedValue captured;
  captured.step = client.context().options().purgeStep.value_or(0);
  captured.wallTime = wallTime;
  captured.scalars = 1;
  captured.order = detail::log::CapturedValue::Order::kInPlace;
  captured.work = [series, value](const detail::log::CapturedValue::Place& place) {
    detail::log::RegisteredSeries* const known = place.seriesOf(series);
    known->stream->addScalarAtLastStep(&known->series, static_cast<float>(value), place.step,
                                       place.wallTime, place.exact);
    return Status();
  };
  client.handOver(std::move(captured));
}

}  // namespace

void SummaryWriter::addHparams(const Hparams& hparams, const HparamMetrics& metrics,
                               const HparamsOptions& options) {
  detail::log::CallSite("addHparams").run([&] {
    detail::values::checkHparams(hparams, metrics, options);
  });
  if (!client_->isActive()) {
    return;
  }
  if (client_->session().begin(promisedMetrics(options))) {
    try {
      client_->addValues(
          0, options.wallTime, 0, [hparams, options, startTime = client_->context().startTime()] {
            std::vector<event::Value> values;
            if (options.experiment) {
              values.push_back(detail::values::hparamsExperimentValue(*options.experiment));
            }
            values.push_back(
                detail::values::sessionStartValue(hparams, options.groupName, startTime));
            return values;
          });
    } catch (...) {
      client_->session().abandon();
      throw;
    }
  } else {
    client_->context().reporter().reportOnce(
        "addHparams: got another call for " + client_->context().directory() +
        "; expected one: TensorBoard keeps the first hyperparameters of a run, only the metrics "
        "were recorded");
  }
  for (const auto& [tag, value] : metrics) {
    addScalarAtLastStep(*client_, client_->series().of(tag), value, options.wallTime);
  }
}

}  // namespace steptape
