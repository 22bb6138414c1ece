// SPDX-License-Identifier: Apache-2.0
#include "safetensors/tensor_layout.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/got_expected.h"
#include "base/text.h"

namespace steptape {
namespace {

struct DTypeRow {
  const char* name;
  unsigned bits;
};

/// In the order of SafetensorsDType.
constexpr std::array<DTypeRow, 22> kDTypes{{
    {"BOOL", 8},        {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
    {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
    {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
    {"I32", 32},        {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},
    {"I64", 64},        {"U64", 64},
}};
static_assert(kDTypes.size() == static_cast<std::size_t>(SafetensorsDType::kU64) + 1);

const DTypeRow& rowOf(SafetensorsDType dtype) {
  return kDTypes[static_cast<std::size_t>(dtype)];
}

}  // namespace

const char* safetensorsDTypeName(SafetensorsDType dtype) noexcept {
  return rowOf(dtype).name;
}

namespace detail {
namespace {

using Entry = SafetensorsFile::Entry;

/// @param begin The end of the previous tensor.
/// @return the problem; empty if there is none.
std::string problemOf(const Entry& entry, std::uint64_t begin) {
  const std::string where = "tensor " + shownName(entry.name) + ": ";
  const std::string offsets = commaSeparated(std::array{entry.offset, entry.offset + entry.bytes});
  if (entry.offset != begin) {
    return where + gotExpected("data_offsets [" + offsets + "]",
                               "them to begin at " + std::to_string(begin) +
                                   ", where the previous tensor ends");
  }
  const std::optional<std::uint64_t> bytes = byteSize(entry);
  if (!bytes) {
    return where + gotExpected(describe(entry), "whole bytes, and fewer than 2^63 bits");
  }
  if (*bytes != entry.bytes) {
    return where + gotExpected("data_offsets [" + offsets + "], " + counted(entry.bytes, "byte"),
                               counted(*bytes, "byte") + " for " + describe(entry));
  }
  return {};
}

std::string repeatedName(const std::vector<Entry>& entries) {
  std::vector<std::string_view> names(entries.size());
  std::transform(entries.begin(), entries.end(), names.begin(),
                 [](const Entry& entry) { return std::string_view(entry.name); });
  std::sort(names.begin(), names.end());
  const auto repeated = std::adjacent_find(names.begin(), names.end());
  return repeated == names.end()
             ? std::string()
             : "tensor " + shownName(*repeated) + ": " + gotExpected("two entries", "one");
}

std::string problemOfEnd(std::uint64_t end, std::uint64_t dataBytes) {
  if (end > dataBytes) {
    return "the file is truncated: " +
           gotExpected(counted(dataBytes, "byte") + " of tensors", std::to_string(end));
  }
  return end < dataBytes
             ? gotExpected(counted(dataBytes - end, "byte") + " after the last tensor", "none")
             : std::string();
}

}  // namespace

std::optional<SafetensorsDType> safetensorsDTypeNamed(std::string_view name) {
  const auto found = std::find_if(kDTypes.begin(), kDTypes.end(),
                                  [name](const DTypeRow& row) { return row.name == name; });
  if (found == kDTypes.end()) {
    return {};
  }
  return static_cast<SafetensorsDType>(found - kDTypes.begin());
}

std::string safetensorsDTypeNames() {
  std::string names;
  for (const DTypeRow& row : kDTypes) {
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return names;
}

std::string describe(const SafetensorsInfo& info) {
  return std::string(safetensorsDTypeName(info.dtype)) + " [" + commaSeparated(info.shape) + "]";
}

std::string shownName(std::string_view name) {
  constexpr std::size_t kMaxShown = 200;
  return quoted(name.substr(0, kMaxShown)) + (name.size() > kMaxShown ? "…" : "");
}

std::optional<std::uint64_t> byteSize(const SafetensorsInfo& info) {
  constexpr unsigned kBitsPerByte = 8;
  std::int64_t bits = rowOf(info.dtype).bits;
  bool isEmpty = false;
  for (const std::int64_t dimension : info.shape) {
    isEmpty = isEmpty || dimension == 0;
    if (dimension < 0 ||
        __builtin_mul_overflow(bits, std::max<std::int64_t>(dimension, 1), &bits)) {
      return {};
    }
  }
  if (isEmpty) {
    return 0;
  }
  return bits % kBitsPerByte == 0 ? std::optional<std::uint64_t>(bits / kBitsPerByte)
                                  : std::nullopt;
}

std::string arrangeEntries(std::vector<Entry>& entries, std::uint64_t dataBytes) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.offset, a.bytes) < std::tie(b.offset, b.bytes);
  });
  std::uint64_t end = 0;
  for (const Entry& entry : entries) {
    if (std::string problem = problemOf(entry, end); !problem.empty()) {
      return problem;
    }
    end = entry.offset + entry.bytes;
  }
  const std::string problem = problemOfEnd(end, dataBytes);
  return problem.empty() ? repeatedName(entries) : problem;
}

}  // namespace detail
}  // namespace steptape
