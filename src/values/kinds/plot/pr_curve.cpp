// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/plot/pr_curve.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

#include "steptape/events/plugin_content.h"

#include "values/kinds/reject.h"
#include "values/kinds/tensor/row_major_reader.h"

namespace steptape::detail::values {
namespace {

constexpr std::size_t kRows = 6;
/// Small enough that three blocks fit into the first-level cache.
constexpr std::int64_t kBlock = 1024;

std::string element(const char* name, std::int64_t i, double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return std::string(name) + "[" + std::to_string(i) + "] = " + text;
}

/// Reads weights block by block; each is 1 if there are none.
class Weights {
 public:
  explicit Weights(const std::optional<TensorView>& weights) {
    block_.fill(1);
    if (!weights) {
      return;
    }
    reader_.emplace(*weights);
    isOneForAll_ = weights->numel() == 1;
    if (isOneForAll_) {
      reader_->read(block_.data(), 1);
      check(0, 1);
      block_.fill(block_[0]);
    }
  }

  /// Returns the weights of `count` elements, starting with element `first`.
  const double* read(std::int64_t first, std::int64_t count) {
    if (reader_ && !isOneForAll_) {
      reader_->read(block_.data(), count);
      check(first, count);
    }
    return block_.data();
  }

 private:
  void check(std::int64_t first, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i) {
      const double weight = block_[static_cast<std::size_t>(i)];
      if (!(weight >= 0 && weight <= std::numeric_limits<double>::max())) {
        base::reject(element("weights", first + i, weight), "a finite number, 0 or more");
      }
    }
  }

  std::optional<RowMajorReader<double>> reader_;
  bool isOneForAll_ = false;
  std::array<double, kBlock> block_;
};

/// Sums the elements' weights by the last threshold that they reach, alternating false and true
/// labels. An index that depends on the label is cheaper than a branch, which would often be
/// mispredicted.
///
/// @tparam Real The type in which a prediction's bucket is computed.
template <typename Real>
std::vector<double> fillBuckets(const TensorView& labels, const TensorView& predictions,
                                const PrCurveOptions& options) {
  const std::int64_t last = options.numThresholds - 1;
  const auto scale = static_cast<Real>(last);
  std::vector<double> buckets(2 * static_cast<std::size_t>(options.numThresholds));

  RowMajorReader<double> labelReader(labels);
  RowMajorReader<Real> predictionReader(predictions);
  Weights weightReader(options.weights);
  std::array<double, kBlock> labelBlock;
  std::array<Real, kBlock> predictionBlock;

  for (std::int64_t first = 0; first < labels.numel(); first += kBlock) {
    const std::int64_t count = std::min(labels.numel() - first, kBlock);
    labelReader.read(labelBlock.data(), count);
    predictionReader.read(predictionBlock.data(), count);
    const double* const weights = weightReader.read(first, count);
    for (std::int64_t i = 0; i < count; ++i) {
      const double label = labelBlock[static_cast<std::size_t>(i)];
      const Real prediction = predictionBlock[static_cast<std::size_t>(i)];
      // Written so that NaN fails.
      if (!(prediction >= 0 && prediction <= 1)) {
        base::reject(element("predictions", first + i, prediction), "0 to 1");
      }
      if (label != label) {
        base::reject(element("labels", first + i, label), "a truth value");
      }
      // With very many thresholds, the product may be rounded to more than the last one.
      const std::int64_t bucket = std::min(static_cast<std::int64_t>(prediction * scale), last);
      buckets[static_cast<std::size_t>(2 * bucket + (label != 0 ? 1 : 0))] += weights[i];
    }
  }
  return buckets;
}

/// Counts the elements with a false (0) or true (1) label that reach each threshold.
std::vector<double> reaching(const std::vector<double>& buckets, std::size_t truth) {
  std::vector<double> counts(buckets.size() / 2);
  double sum = 0;
  for (std::size_t i = counts.size(); i > 0; --i) {
    sum += buckets[2 * (i - 1) + truth];
    counts[i - 1] = sum;
  }
  return counts;
}

/// Subtracts each count from the first threshold's count.
std::vector<double> missingFromFirst(const std::vector<double>& counts) {
  std::vector<double> missing;
  missing.reserve(counts.size());
  for (const double count : counts) {
    missing.push_back(counts.front() - count);
  }
  return missing;
}

/// Returns part / (part + rest), and 0 if both are 0.
std::vector<double> shares(const std::vector<double>& part, const std::vector<double>& rest) {
  constexpr double kMinimumCount = 1e-7;  // as in TensorBoard and the Python writers
  std::vector<double> quotients;
  quotients.reserve(part.size());
  for (std::size_t i = 0; i < part.size(); ++i) {
    quotients.push_back(part[i] / std::max(kMinimumCount, part[i] + rest[i]));
  }
  return quotients;
}

struct Row {
  const char* name;
  const std::vector<double>* values;
};

/// Returns the tensor's rows in order.
std::array<Row, kRows> rowsOf(const PrCurveCounts& counts) {
  return {{{"truePositives", &counts.truePositives},
           {"falsePositives", &counts.falsePositives},
           {"trueNegatives", &counts.trueNegatives},
           {"falseNegatives", &counts.falseNegatives},
           {"precision", &counts.precision},
           {"recall", &counts.recall}}};
}

void checkThresholds(std::int64_t thresholds, const char* name) {
  constexpr std::int64_t kMaxThresholds = kMaxPayload / (kRows * sizeof(float));
  if (thresholds < 2 || thresholds > kMaxThresholds) {
    base::reject(std::string(name) + " = " + std::to_string(thresholds),
                 "2 to " + std::to_string(kMaxThresholds));
  }
}

}  // namespace

void checkPrCurve(const TensorView& labels, const TensorView& predictions,
                  const PrCurveOptions& options) {
  checkThresholds(options.numThresholds, "numThresholds");
  if (labels.numel() != predictions.numel()) {
    base::reject(std::to_string(labels.numel()) + " labels of shape " + labels.shapeString() +
                     " and " + std::to_string(predictions.numel()) + " predictions of shape " +
                     predictions.shapeString(),
                 "equally many");
  }
  if (options.weights && options.weights->numel() != 1 &&
      options.weights->numel() != labels.numel()) {
    base::reject(std::to_string(options.weights->numel()) + " weights of shape " +
                     options.weights->shapeString(),
                 std::to_string(labels.numel()) + ", one for each label, or 1");
  }
}

PrCurveCounts computePrCurve(const TensorView& labels, const TensorView& predictions,
                             const PrCurveOptions& options) {
  checkPrCurve(labels, predictions, options);
  const std::vector<double> buckets = predictions.dtype() == DType::kFloat64
                                          ? fillBuckets<double>(labels, predictions, options)
                                          : fillBuckets<float>(labels, predictions, options);
  PrCurveCounts counts;
  counts.truePositives = reaching(buckets, 1);
  counts.falsePositives = reaching(buckets, 0);
  counts.trueNegatives = missingFromFirst(counts.falsePositives);
  counts.falseNegatives = missingFromFirst(counts.truePositives);
  counts.precision = shares(counts.truePositives, counts.falsePositives);
  counts.recall = shares(counts.truePositives, counts.falseNegatives);
  checkPrCurve(counts);  // sums of weights may exceed the format's range
  return counts;
}

void checkPrCurve(const PrCurveCounts& counts) {
  constexpr double kMax = std::numeric_limits<float>::max();
  const std::size_t thresholds = counts.truePositives.size();
  checkThresholds(static_cast<std::int64_t>(thresholds), "the number of truePositives");
  for (const Row& row : rowsOf(counts)) {
    const std::vector<double>& values = *row.values;
    if (values.size() != thresholds) {
      base::reject(std::to_string(thresholds) + " truePositives and " +
                       std::to_string(values.size()) + " " + row.name,
                   "equally many");
    }
    for (std::size_t i = 0; i < thresholds; ++i) {
      if (!(values[i] >= 0 && values[i] <= kMax)) {
        base::reject(element(row.name, static_cast<std::int64_t>(i), values[i]),
                     "a number, 0 or more, that is finite in binary32");
      }
    }
  }
}

event::Value prCurveValue(std::string tag, const PrCurveCounts& counts,
                          event::SummaryMetadata metadata) {
  const std::size_t thresholds = counts.truePositives.size();
  metadata.pluginName = event::kPrCurvesPlugin;
  metadata.pluginContent = event::prCurvePluginContent(static_cast<std::uint32_t>(thresholds));
  metadata.dataClass = event::DataClass::kTensor;
  event::Tensor tensor;
  tensor.type = event::TensorType::kFloat;
  tensor.shape = {kRows, static_cast<std::int64_t>(thresholds)};
  tensor.content.reserve(kRows * thresholds * sizeof(float));
  for (const Row& row : rowsOf(counts)) {
    for (const double value : *row.values) {
      const auto narrow = static_cast<float>(value);
      char bytes[sizeof(narrow)];
      std::memcpy(bytes, &narrow, sizeof(narrow));
      tensor.content.append(bytes, sizeof(bytes));
    }
  }
  return {std::move(tag), std::move(tensor), std::move(metadata)};
}

}  // namespace steptape::detail::values
