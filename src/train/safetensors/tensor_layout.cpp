// SPDX-License-Identifier: Apache-2.0
#include "train/safetensors/tensor_layout.h"

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

namespace detail::train {
namespace {

/// @param begin The end of the previous tensor.
/// @return the problem; empty if there is none.
std::string problemOf(const DescribedTensor& tensor, std::uint64_t begin) {
  const std::string where = "tensor " + shownName(tensor.info.name) + ": ";
  const std::string offsets =
      "data_offsets [" + base::commaSeparated(std::array{tensor.begin, tensor.end}) + "]";
  if (tensor.end < tensor.begin) {
    return where + base::gotExpected(offsets, "the start and the end of its bytes");
  }
  if (tensor.begin != begin) {
    return where + base::gotExpected(offsets, "them to begin at " + std::to_string(begin) +
                                                  ", where the previous tensor ends");
  }
  const std::optional<std::uint64_t> bytes = byteSize(tensor.info);
  if (!bytes) {
    return where +
           base::gotExpected(describe(tensor.info), "whole bytes, and fewer than 2^64 bits");
  }
  const std::uint64_t given = tensor.end - tensor.begin;
  return *bytes == given ? std::string()
                         : where + base::gotExpected(offsets + ", " + base::counted(given, "byte"),
                                                     base::counted(*bytes, "byte") + " for " +
                                                         describe(tensor.info));
}

/// Removes each tensor that another one of its name follows.
void keepLastOfEachName(std::vector<DescribedTensor>* tensors) {
  std::stable_sort(tensors->begin(), tensors->end(),
                   [](const auto& a, const auto& b) { return a.info.name < b.info.name; });
  const auto hasSameName = [](const auto& a, const auto& b) { return a.info.name == b.info.name; };
  // std::unique() keeps the first of equal elements, from the back the last.
  tensors->erase(tensors->begin(),
                 std::unique(tensors->rbegin(), tensors->rend(), hasSameName).base());
}

std::string problemOfEnd(std::uint64_t end, std::uint64_t dataBytes) {
  if (end > dataBytes) {
    return "the file is truncated: " +
           base::gotExpected(base::counted(dataBytes, "byte") + " of tensors", std::to_string(end));
  }
  return end < dataBytes
             ? base::gotExpected(base::counted(dataBytes - end, "byte") + " after the last tensor",
                                 "none")
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
  return std::string(safetensorsDTypeName(info.dtype)) + " [" + base::commaSeparated(info.shape) +
         "]";
}

std::string shownName(std::string_view name) {
  constexpr std::size_t kMaxShown = 200;
  return base::quoted(name.substr(0, kMaxShown)) + (name.size() > kMaxShown ? "…" : "");
}

std::optional<std::uint64_t> byteSize(const SafetensorsInfo& info) {
  constexpr unsigned kBitsPerByte = 8;
  std::uint64_t elements = 1;
  for (const std::int64_t dimension : info.shape) {
    if (dimension < 0 ||
        __builtin_mul_overflow(elements, static_cast<std::uint64_t>(dimension), &elements)) {
      return {};
    }
  }
  std::uint64_t bits = 0;
  if (__builtin_mul_overflow(elements, std::uint64_t{rowOf(info.dtype).bits}, &bits) ||
      bits % kBitsPerByte != 0) {
    return {};
  }
  return bits / kBitsPerByte;
}

bool fitsStrides(const SafetensorsInfo& info) {
  std::int64_t bits = rowOf(info.dtype).bits;
  return std::all_of(info.shape.begin(), info.shape.end(), [&bits](std::int64_t dimension) {
    return !__builtin_mul_overflow(bits, std::max<std::int64_t>(dimension, 1), &bits);
  });
}

std::string arrangeEntries(std::vector<DescribedTensor> tensors, std::uint64_t dataBytes,
                           std::vector<SafetensorsFile::Entry>* entries) {
  keepLastOfEachName(&tensors);
  std::stable_sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  entries->reserve(tensors.size());
  std::uint64_t end = 0;
  for (DescribedTensor& tensor : tensors) {
    if (std::string problem = problemOf(tensor, end); !problem.empty()) {
      return problem;
    }
    end = tensor.end;
    entries->push_back({std::move(tensor.info), tensor.begin, tensor.end - tensor.begin});
  }
  return problemOfEnd(end, dataBytes);
}

}  // namespace detail::train
}  // namespace steptape
