// SPDX-License-Identifier: Apache-2.0
#include "metrics/reduce/metric_schema.h"

#include <algorithm>
#include <charconv>

#include "steptape/base/status.h"
#include "steptape/ranks/communicator.h"

namespace steptape::detail::metrics {
namespace {

/// Appends "<length>:<field>", so that fields may contain any bytes.
void appendField(std::string& bytes, std::string_view field) {
  bytes.append(std::to_string(field.size())).append(":").append(field);
}

[[noreturn]] void throwMalformed() {
  throw Error(
      ErrorCode::kRankMismatch,
      "reduce: a rank sent something else than what it reduces: it is in another operation");
}

template <typename Integer>
Integer parseInteger(std::string_view text) {
  Integer value{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) {
    throwMalformed();
  }
  return value;
}

std::string_view takeField(std::string_view& bytes) {
  const std::size_t colon = bytes.find(':');
  if (colon == std::string_view::npos) {
    throwMalformed();
  }
  const auto length = parseInteger<std::size_t>(bytes.substr(0, colon));
  bytes.remove_prefix(colon + 1);
  if (length > bytes.size()) {
    throwMalformed();
  }
  const std::string_view field = bytes.substr(0, length);
  bytes.remove_prefix(length);
  return field;
}

/// Returns the metric of `schema` with this tag, or null.
const Metric* find(const MetricSchema& schema, const std::string& tag) {
  const auto at = std::lower_bound(
      schema.metrics.begin(), schema.metrics.end(), tag,
      [](const Metric& metric, const std::string& key) { return metric.tag < key; });
  return at != schema.metrics.end() && at->tag == tag ? &*at : nullptr;
}

std::string statisticsText(std::uint8_t statistics) {
  std::string text = "mean";
  text += (statistics & kMinimum) != 0 ? ", min" : "";
  text += (statistics & kMaximum) != 0 ? ", max" : "";
  text += (statistics & kDeviation) != 0 ? ", std" : "";
  text += (statistics & kArgmaxRank) != 0 ? ", argmax_rank" : "";
  text += (statistics & kSum) != 0 ? ", sum" : "";
  text += (statistics & kRankValues) != 0 ? ", percentiles or histogram" : "";
  return text;
}

/// Returns a rank's activity, such as "'loss' at step 5".
std::string activity(const MetricSchema& schema) {
  const std::string what =
      schema.metrics.empty() ? "nothing" : "'" + schema.metrics.front().tag + "'";
  return what + " at step " + std::to_string(schema.step);
}

/// Describes a metric that `has` has and that `lacks` does not have, or has with other statistics;
/// empty if there is none.
std::string describeOneSided(const MetricSchema& has, const std::string& hasName,
                             const MetricSchema& lacks, const std::string& lacksName) {
  for (const Metric& metric : has.metrics) {
    const std::string subject =
        hasName + " reduces '" + metric.tag + "' at step " + std::to_string(has.step);
    const Metric* other = find(lacks, metric.tag);
    if (other == nullptr) {
      return subject + ", which " + lacksName + " does not";
    }
    if (other->statistics != metric.statistics) {
      return subject + " to " + statisticsText(metric.statistics) + ", but " + lacksName + " to " +
             statisticsText(other->statistics);
    }
  }
  return "";
}

std::string describePair(const MetricSchema& root, const MetricSchema& other, int otherRank) {
  const std::string rootName = rankAndNode(0, root.nodeName);
  const std::string otherName = rankAndNode(otherRank, other.nodeName);
  if (root.step != other.step) {
    return otherName + " reduces " + activity(other) + ", but " + rootName + " " + activity(root);
  }
  const std::string extra = describeOneSided(other, otherName, root, rootName);
  return extra.empty() ? describeOneSided(root, rootName, other, otherName) : extra;
}

}  // namespace

std::string MetricSchema::encode() const {
  std::string bytes;
  appendField(bytes, std::to_string(step));
  appendField(bytes, nodeName);
  for (const Metric& metric : metrics) {
    appendField(bytes, std::to_string(metric.statistics));
    appendField(bytes, metric.tag);
  }
  return bytes;
}

MetricSchema MetricSchema::decode(std::string_view bytes) {
  MetricSchema schema;
  schema.step = parseInteger<std::int64_t>(takeField(bytes));
  schema.nodeName = takeField(bytes);
  while (!bytes.empty()) {
    const auto statistics = parseInteger<std::uint8_t>(takeField(bytes));
    schema.metrics.push_back({std::string(takeField(bytes)), statistics});
  }
  return schema;
}

std::string describeMismatch(const std::vector<MetricSchema>& schemaByRank) {
  std::string first;
  std::size_t differing = 0;
  for (std::size_t rank = 1; rank < schemaByRank.size(); ++rank) {
    const std::string difference =
        describePair(schemaByRank.front(), schemaByRank[rank], static_cast<int>(rank));
    differing += difference.empty() ? 0 : 1;
    first = first.empty() ? difference : first;
  }
  const std::string others =
      differing > 1 ? " (" + std::to_string(differing) + " ranks differ from rank 0)" : "";
  return "reduce: " + first + others +
         "; every rank must queue the same metrics for a step. What was queued is dropped";
}

void MetricFingerprint::add(std::string_view tag, std::uint8_t statistics) {
  addByte(statistics);
  addNumber(tag.size());
  for (const char byte : tag) {
    addByte(static_cast<std::uint8_t>(byte));
  }
}

void MetricFingerprint::addNumber(std::uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8) {
    addByte(static_cast<std::uint8_t>(number >> shift));
  }
}

double MetricFingerprint::at(std::int64_t step) const {
  MetricFingerprint withStep = *this;
  withStep.addNumber(static_cast<std::uint64_t>(step));
  // The low bits of FNV are mixed worst; a double's mantissa takes the high ones.
  return static_cast<double>(withStep.hash_ >> 12);
}

}  // namespace steptape::detail::metrics
