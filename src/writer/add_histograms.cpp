// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include "steptape/summary/histogram.h"
#include "steptape/summary/tag.h"
#include "steptape/writer/summary_writer.h"

#include "writer/capture.h"
#include "writer/value_names.h"
#include "writer/writer_core.h"

namespace steptape {

void SummaryWriter::addHistogram(std::string_view tag, const TensorView& values, std::int64_t step,
                                 const HistogramOptions& options) {
  const std::string name = core_->validTag(tag);
  if (!core_->isActive()) {
    return;
  }
  const auto counted = capture({values}, [core = core_, name](const auto& views) {
    HistogramData data = computeHistogram(views[0]);
    core->noteNonFinite(name, data.nanCount + data.posInfCount + data.negInfCount);
    return data.raw;
  });
  const std::size_t bytes = 2048 * sizeof(double);
  core_->addValue(step, options.wallTime, bytes, [name, counted, metadata = namesOf(options)] {
    return histogramValue(name, *counted(), metadata);
  });
}

void SummaryWriter::addHistogramRaw(std::string_view tag, const HistogramRaw& histogram,
                                    std::int64_t step, const HistogramOptions& options) {
  const std::string name = core_->validTag(tag);
  validateHistogram(histogram);
  const std::size_t bytes = sizeof(double) * 2 * histogram.bucketLimits.size();
  core_->addValue(step, options.wallTime, bytes, [name, histogram, metadata = namesOf(options)] {
    return histogramValue(name, histogram, metadata);
  });
}

}  // namespace steptape
