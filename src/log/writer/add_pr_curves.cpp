// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include "steptape/log/summary_writer.h"

#include "log/writer/call_site.h"
#include "log/writer/capture.h"
#include "log/writer/run_client.h"
#include "log/writer/value_names.h"
#include "values/kinds/plot/pr_curve.h"

namespace steptape {
namespace {

std::size_t bytesOf(std::size_t thresholds) {
  return 6 * sizeof(double) * thresholds;
}

}  // namespace

void SummaryWriter::addPrCurve(std::string_view tag, const TensorView& labels,
                               const TensorView& predictions, std::int64_t step,
                               const PrCurveOptions& options) {
  const std::string name = client_->validTag(tag);
  if (!client_->isActive()) {
    return;
  }
  const detail::log::CallSite site("addPrCurve", name);
  site.run([&] { detail::values::checkPrCurve(labels, predictions, options); });
  std::vector<TensorView> views = {labels, predictions};
  if (options.weights) {
    views.push_back(*options.weights);
  }
  const std::int64_t thresholds = options.numThresholds;
  const auto counts =
      detail::log::capture(std::move(views), site, [thresholds](const auto& captured) {
        PrCurveOptions counting;
        counting.numThresholds = thresholds;
        if (captured.size() > 2) {
          counting.weights = captured[2];
        }
        return detail::values::computePrCurve(captured[0], captured[1], counting);
      });
  const std::size_t bytes = bytesOf(static_cast<std::size_t>(thresholds));
  client_->addValue(step, options.wallTime, bytes,
                    [name, counts, metadata = detail::log::namesOf(options)] {
                      return detail::values::prCurveValue(name, *counts(), metadata);
                    });
}

void SummaryWriter::addPrCurveRaw(std::string_view tag, const PrCurveCounts& counts,
                                  std::int64_t step, const PrCurveOptions& options) {
  const std::string name = client_->validTag(tag);
  if (!client_->isActive()) {
    return;
  }
  detail::log::CallSite("addPrCurveRaw", name).run([&] { detail::values::checkPrCurve(counts); });
  const std::size_t bytes = bytesOf(counts.truePositives.size());
  client_->addValue(step, options.wallTime, bytes,
                    [name, counts, metadata = detail::log::namesOf(options)] {
                      return detail::values::prCurveValue(name, counts, metadata);
                    });
}

}  // namespace steptape
