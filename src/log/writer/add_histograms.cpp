// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include "steptape/log/summary_writer.h"

#include "log/writer/call_site.h"
#include "log/writer/capture.h"
#include "log/writer/run_client.h"
#include "log/writer/value_names.h"
#include "values/kinds/histogram/histogram.h"
#include "values/kinds/tag.h"

namespace steptape {
namespace {

/// Reports the number of NaN and infinite values, once for each tag.
void noteNonFinite(const std::string& name, const detail::values::HistogramData& data,
                   detail::log::Reporter* reporter) {
  const std::uint64_t left = data.nanCount + data.posInfCount + data.negInfCount;
  if (left == 0) {
    return;
  }
  const auto all = left + static_cast<std::uint64_t>(data.raw.num);
  reporter->reportOnce("not finite " + name,
                       "addHistogram \"" + name + "\": left out " + std::to_string(data.nanCount) +
                           " NaN, " + std::to_string(data.posInfCount) + " +Inf and " +
                           std::to_string(data.negInfCount) + " -Inf of " + std::to_string(all) +
                           " values; further ones of this tag are not reported");
}

}  // namespace

void SummaryWriter::addHistogram(std::string_view tag, const TensorView& values, std::int64_t step,
                                 const HistogramOptions& options) {
  const std::string name = client_->validTag(tag);
  if (!client_->isActive()) {
    return;
  }
  const detail::log::CallSite site("addHistogram", name);
  site.run([&] { detail::values::checkHistogramBins(options.bins, options.maxBins); });
  const auto count = [reporter = &client_->context().reporter(), name, bins = options.bins,
                      maxBins = options.maxBins](const auto& views) {
    detail::values::HistogramData data =
        detail::values::computeHistogram(views.front(), bins, maxBins);
    noteNonFinite(name, data, reporter);
    return std::move(data.raw);
  };
  const auto counted = detail::log::capture({values}, site, count);
  // The maximum for default buckets; other buckets rarely need more.
  const std::size_t bytes = 2048 * sizeof(double);
  client_->addValue(step, options.wallTime, bytes,
                    [name, counted, metadata = detail::log::namesOf(options)](ValueForm form) {
                      return detail::values::histogramValue(name, *counted(), metadata, form);
                    });
}

void SummaryWriter::addHistogramRaw(std::string_view tag, const HistogramRaw& histogram,
                                    std::int64_t step, const HistogramOptions& options) {
  const std::string name = client_->validTag(tag);
  detail::log::CallSite("addHistogramRaw", name).run([&] {
    detail::values::checkHistogram(histogram);
  });
  const std::size_t bytes = sizeof(double) * 2 * histogram.bucketLimits.size();
  client_->addValue(step, options.wallTime, bytes,
                    [name, histogram, metadata = detail::log::namesOf(options)](ValueForm form) {
                      return detail::values::histogramValue(name, histogram, metadata, form);
                    });
}

}  // namespace steptape
