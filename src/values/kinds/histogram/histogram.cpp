// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/histogram/histogram.h"

#include <memory>

#include "values/kinds/histogram/histogram_bins.h"
#include "values/kinds/histogram/moments.h"
#include "values/kinds/tensor/strided.h"

namespace steptape::detail::values {
namespace {

HistogramRaw assembleRaw(const SlotCounts& counts, const Moments& moments) {
  std::size_t end = kBuckets;
  while (end > 0 && bucketTotal(counts, end - 1) == 0) {
    --end;
  }
  HistogramRaw raw;
  if (end == 0) {
    return raw;
  }
  std::size_t first = 0;
  while (bucketTotal(counts, first) == 0) {
    ++first;
  }
  std::uint64_t total = 0;
  for (std::size_t bucket = first; bucket < end; ++bucket) {
    const std::uint64_t count = bucketTotal(counts, bucket);
    total += count;
    raw.bucketLimits.push_back(bucketLimit(bucket));
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
  const auto& table = SlotTable<Float>::instance();
  // 50 KB would be too much for a small stack of a caller's thread.
  const auto counts = std::make_unique<SlotCounts>();
  Moments moments;
  forEachBlock<Float>(values, [&](const Float* block, std::size_t count) {
    // Moments first: they read at an even rate, so that memory keeps up, and leave the block in the
    // cache.
    moments.add(block, count);
    table.count(block, count, counts.get());
  });

  HistogramData result;
  result.raw = assembleRaw(*counts, moments);
  result.nanCount = slotTotal(*counts, kPosNanSlot) + slotTotal(*counts, kNegNanSlot);
  result.posInfCount = slotTotal(*counts, kPosInfSlot);
  result.negInfCount = slotTotal(*counts, kNegInfSlot);
  return result;
}

}  // namespace

HistogramData computeHistogram(const TensorView& values) {
  return base::fitsFloat(values.dtype()) ? computeAs<float>(values) : computeAs<double>(values);
}

}  // namespace steptape::detail::values
