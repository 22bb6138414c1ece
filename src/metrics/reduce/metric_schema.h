// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace steptape::detail::metrics {

/// Statistics of a metric in addition to its mean; bits of one byte, so that ranks compare them at
/// once.
enum MetricStatistic : std::uint8_t {
  kMinimum = 1,
  kMaximum = 2,
  kDeviation = 4,
  kArgmaxRank = 8,
  kSum = 16,
  kRankValues = 32,  ///< Values of every rank, for percentiles or a histogram.
};

/// Statistics that need MetricMoments; the others need only sums.
constexpr std::uint8_t kNeedMoments = kMinimum | kMaximum | kDeviation | kArgmaxRank;

/// A metric that all ranks reduce.
struct Metric {
  std::string tag;
  std::uint8_t statistics;  ///< Bits of MetricStatistic.
  std::uint32_t tagId = 0;  ///< This rank's number of the tag; not sent.
};

/// The metrics that one rank reduces at one step. Made only to explain a disagreement, which
/// fingerprints detect.
struct MetricSchema {
  std::int64_t step = 0;
  std::string nodeName;
  std::vector<Metric> metrics;  ///< Ascending by tag.

  /// Returns a text that does not depend on the byte order of a node.
  std::string encode() const;
  /// @throws Error(kRankMismatch) if `bytes` came from another operation.
  static MetricSchema decode(std::string_view bytes);
};

/// Describes how the first rank that differs from rank 0 differs: the same text on every rank.
std::string describeMismatch(const std::vector<MetricSchema>& schemaByRank);

/// Hashes metrics, which must be fed in ascending order by tag.
///
/// @source FNV-1a, 64 bits: https://datatracker.ietf.org/doc/html/draft-eastlake-fnv
class MetricFingerprint {
 public:
  void add(std::string_view tag, std::uint8_t statistics);

  /// Returns an integer below 2^52, which a double holds exactly. Two ranks that reduce different
  /// metrics get equal fingerprints with a probability of 1 in 4.5e15.
  double at(std::int64_t step) const;

 private:
  void addByte(std::uint8_t byte) { hash_ = (hash_ ^ byte) * 0x100000001b3U; }
  void addNumber(std::uint64_t number);

  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

}  // namespace steptape::detail::metrics
