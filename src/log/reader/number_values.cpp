// SPDX-License-Identifier: Apache-2.0
// Values that are numbers: histograms, PR curves, meshes, tensors.
#include <algorithm>
#include <utility>

#include "steptape/log/values.h"

#include "log/reader/event_values.h"
#include "log/reader/value_checks.h"

namespace steptape {
namespace {

using detail::log::floatAt;
using detail::log::unexpected;

/// Gives a histogram of the compatible form finite outer edges: the minimum and the maximum. The
/// limits between the first and the last nonempty bucket stay.
Status decodeBuckets(const event::SummaryHistogram& found, HistogramValue* histogram) {
  const std::vector<double>& counts = found.bucketCounts;
  const std::vector<double>& limits = found.bucketLimits;
  const auto isFilled = [](double count) { return count != 0; };  // also NaN
  const auto first = std::find_if(counts.begin(), counts.end(), isFilled);
  const auto end = std::find_if(counts.rbegin(), counts.rend(), isFilled).base();
  histogram->buckets.clear();
  if (first == counts.end()) {
    return Status();
  }
  const auto begin = static_cast<std::size_t>(first - counts.begin());
  const auto last = static_cast<std::size_t>(end - counts.begin()) - 1;
  if (begin < last && limits.size() < last) {
    return unexpected("histogram", std::to_string(limits.size()) + " limits",
                      "one for each of " + std::to_string(counts.size()) + " buckets");
  }
  for (std::size_t i = begin; i <= last; ++i) {
    histogram->buckets.push_back(
        {i == begin ? found.min : limits[i - 1], i == last ? found.max : limits[i], counts[i]});
  }
  return Status();
}

}  // namespace

Status decodeHistogram(const event::Value& value, HistogramValue* histogram) {
  if (const auto* found = std::get_if<event::SummaryHistogram>(&value.data)) {
    return decodeBuckets(*found, histogram);
  }
  const event::Tensor* tensor = nullptr;
  if (Status status = detail::log::findFloats(value, "histogram", &tensor); !status.ok()) {
    return status;
  }
  const std::vector<std::int64_t>& shape = tensor->shape;
  if (shape.size() != 2 || shape[1] != 3) {
    return unexpected("histogram", "shape " + detail::log::shapeText(shape),
                      "(buckets, 3): left edge, right edge, count");
  }
  histogram->buckets.resize(static_cast<std::size_t>(shape[0]));
  std::size_t i = 0;
  for (HistogramBucket& bucket : histogram->buckets) {
    bucket = {floatAt(*tensor, i), floatAt(*tensor, i + 1), floatAt(*tensor, i + 2)};
    i += 3;
  }
  return Status();
}

Status decodePrCurve(const event::Value& value, PrCurveValue* curve) {
  const event::Tensor* tensor = nullptr;
  if (Status status = detail::log::findFloats(value, "PR curve", &tensor); !status.ok()) {
    return status;
  }
  if (tensor->shape.size() != 2 || tensor->shape[0] != 6) {
    return unexpected("PR curve", "shape " + detail::log::shapeText(tensor->shape),
                      "(6, thresholds)");
  }
  const auto thresholds = static_cast<std::size_t>(tensor->shape[1]);
  std::size_t next = 0;
  for (std::vector<double>* const row :
       {&curve->truePositives, &curve->falsePositives, &curve->trueNegatives,
        &curve->falseNegatives, &curve->precision, &curve->recall}) {
    row->resize(thresholds);
    for (double& number : *row) {
      number = floatAt(*tensor, next++);
    }
  }
  return Status();
}

Status decodeMesh(const event::Value& value, const event::SummaryMetadata& metadata,
                  MeshValue* mesh) {
  const event::Tensor* tensor = nullptr;
  if (Status status = detail::log::findNumbers(value, "mesh", &tensor); !status.ok()) {
    return status;
  }
  if (tensor->shape.size() != 3 || tensor->shape[2] != 3) {
    return unexpected("mesh", "shape " + detail::log::shapeText(tensor->shape), "(batch, rows, 3)");
  }
  mesh->numbers = *tensor;
  return event::decodeMeshPluginContent(metadata.pluginContent, &mesh->mesh);
}

Status decodeTensor(const event::Value& value, event::Tensor* tensor) {
  if (const auto* number = std::get_if<float>(&value.data)) {
    *tensor = detail::log::tensorOf(*number);
    return Status();
  }
  const event::Tensor* found = nullptr;
  Status status = detail::log::findTensor(value, "tensor", &found);
  if (status.ok()) {
    *tensor = *found;
  }
  return status;
}

}  // namespace steptape
