// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/histogram/histogram.h"

#include <memory>

#include "values/kinds/histogram/histogram_bins.h"
#include "values/kinds/histogram/moments.h"
#include "values/kinds/tensor/strided.h"

namespace steptape {
namespace {

HistogramRaw assembleRaw(const detail::SlotCounts& counts, const detail::Moments& moments) {
  std::size_t end = detail::kBuckets;
  while (end > 0 && detail::bucketTotal(counts, end - 1) == 0) {
    --end;
  }
  HistogramRaw raw;
  if (end == 0) {
    return raw;
  }
  std::size_t first = 0;
  while (detail::bucketTotal(counts, first) == 0) {
    ++first;
  }
  std::uint64_t total = 0;
  for (std::size_t bucket = first; bucket < end; ++bucket) {
    const std::uint64_t count = detail::bucketTotal(counts, bucket);
    total += count;
    raw.bucketLimits.push_back(detail::bucketLimit(bucket));
    raw.bucketCounts.push_back(static_cast<double>(count));
  }
  raw.num = static_cast<double>(total);
  raw.min = moments.min();
  raw.max = moments.max();
  raw.sum = moments.sum();
  raw.sumSquares = moments.sumSquares();
  return raw;
}

template <typename Float>
HistogramData computeAs(const TensorView& values) {
  const auto& table = detail::SlotTable<Float>::instance();
  // 50 KB would be too much for a small stack of a caller's thread.
  const auto counts = std::make_unique<detail::SlotCounts>();
  detail::Moments moments;
  detail::forEachBlock<Float>(values, [&](const Float* block, std::size_t count) {
    // Moments first: they read at an even rate, so that memory keeps up, and leave the block in the
    // cache.
    moments.add(block, count);
    table.count(block, count, counts.get());
  });

  HistogramData result;
  result.raw = assembleRaw(*counts, moments);
  result.nanCount = detail::slotTotal(*counts, detail::kPosNanSlot) +
                    detail::slotTotal(*counts, detail::kNegNanSlot);
  result.posInfCount = detail::slotTotal(*counts, detail::kPosInfSlot);
  result.negInfCount = detail::slotTotal(*counts, detail::kNegInfSlot);
  return result;
}

}  // namespace

HistogramData computeHistogram(const TensorView& values) {
  return detail::fitsFloat(values.dtype()) ? computeAs<float>(values) : computeAs<double>(values);
}

}  // namespace steptape
