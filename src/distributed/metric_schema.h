// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace steptape::detail {

/// What is written of a metric beside its mean; bits of one byte, so that ranks compare them at
/// once.
enum Statistic : std::uint8_t {
  kMinimum = 1,
  kMaximum = 2,
  kDeviation = 4,
  kArgmaxRank = 8,
  kSum = 16,
  kRankValues = 32,  ///< What needs the value of every rank: percentiles, a histogram.
};

/// Statistics that need MetricMoments; the others come from sums.
constexpr std::uint8_t kNeedMoments = kMinimum | kMaximum | kDeviation | kArgmaxRank;

/// A metric that all ranks reduce.
struct Metric {
  std::string tag;
  std::uint8_t statistics;  ///< Bits of Statistic.
  std::uint32_t tagId = 0;  ///< This rank's number of the tag; does not travel.
};

/// What one rank reduces at one step. Made only to explain a disagreement: agreement is found out
/// from fingerprints.
struct MetricSchema {
  std::int64_t step = 0;
  std::string nodeName;
  std::vector<Metric> metrics;  ///< Ascending by tag.

  /// Text that does not depend on the byte order of a node.
  std::string encode() const;
  /// @throws Error(kRankMismatch) if `bytes` came from another operation.
  static MetricSchema decode(std::string_view bytes);
};

/// Says how the first rank that differs from rank 0 does: the same text on every rank.
std::string describeMismatch(const std::vector<MetricSchema>& schemaByRank);

/// Hashes metrics that are fed in ascending order of their tags.
///
/// @source FNV-1a, 64 bits: https://datatracker.ietf.org/doc/html/draft-eastlake-fnv
class MetricFingerprint {
 public:
  void add(std::string_view tag, std::uint8_t statistics);

  /// A whole number below 2^52, which a double holds exactly. Two ranks that reduce different
  /// things get equal ones by an accident of 1 in 4.5e15.
  double at(std::int64_t step) const;

 private:
  void addByte(std::uint8_t byte) { hash_ = (hash_ ^ byte) * 0x100000001b3U; }
  void addNumber(std::uint64_t number);

  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

}  // namespace steptape::detail
