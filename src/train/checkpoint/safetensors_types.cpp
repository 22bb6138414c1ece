// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint/safetensors_types.h"

#include <torch/version.h>

#define STEPTAPE_TORCH_AT_LEAST(minor) \
  (TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= (minor)))

namespace steptape::detail::train {
namespace {

struct TypePair {
  SafetensorsDType dtype;
  at::ScalarType type;
};

constexpr TypePair kTypes[] = {
    {SafetensorsDType::kBool, at::kBool},
    {SafetensorsDType::kU8, at::kByte},
    {SafetensorsDType::kI8, at::kChar},
    {SafetensorsDType::kI16, at::kShort},
    {SafetensorsDType::kF16, at::kHalf},
    {SafetensorsDType::kBF16, at::kBFloat16},
    {SafetensorsDType::kI32, at::kInt},
    {SafetensorsDType::kF32, at::kFloat},
    {SafetensorsDType::kC64, at::kComplexFloat},
    {SafetensorsDType::kF64, at::kDouble},
    {SafetensorsDType::kI64, at::kLong},
#if STEPTAPE_TORCH_AT_LEAST(1)
    {SafetensorsDType::kF8E5M2, at::ScalarType::Float8_e5m2},
    {SafetensorsDType::kF8E4M3, at::ScalarType::Float8_e4m3fn},
#endif
#if STEPTAPE_TORCH_AT_LEAST(2)
    {SafetensorsDType::kF8E5M2Fnuz, at::ScalarType::Float8_e5m2fnuz},
    {SafetensorsDType::kF8E4M3Fnuz, at::ScalarType::Float8_e4m3fnuz},
#endif
#if STEPTAPE_TORCH_AT_LEAST(3)
    {SafetensorsDType::kU16, at::ScalarType::UInt16},
    {SafetensorsDType::kU32, at::ScalarType::UInt32},
    {SafetensorsDType::kU64, at::ScalarType::UInt64},
#endif
#if STEPTAPE_TORCH_AT_LEAST(7)
    {SafetensorsDType::kF8E8M0, at::ScalarType::Float8_e8m0fnu},
#endif
};

}  // namespace

std::optional<at::ScalarType> scalarTypeOf(SafetensorsDType dtype) {
  for (const TypePair& pair : kTypes) {
    if (pair.dtype == dtype) {
      return pair.type;
    }
  }
  return {};
}

std::optional<SafetensorsDType> safetensorsDTypeOf(at::ScalarType type) {
  for (const TypePair& pair : kTypes) {
    if (pair.type == type) {
      return pair.dtype;
    }
  }
  return {};
}

}  // namespace steptape::detail::train
