// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/element_reduction.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "ranks/communicator/round_to_half.h"

namespace steptape::detail::ranks {
namespace {

base::Float16 narrow(float value, base::Float16 /*type*/) {
  return roundToFloat16(value);
}
base::BFloat16 narrow(float value, base::BFloat16 /*type*/) {
  return roundToBFloat16(value);
}

/// Combines numbers. Sums and products of integers wrap around, as in MPI.
template <ReduceOp kOp, typename T>
T combine(T left, T right) {
  // Computes with unsigned integers at least as wide as int, because signed overflow is undefined.
  const auto wrap = [](T a, T b, auto calculate) {
    if constexpr (std::is_integral_v<T>) {
      using Unsigned = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
      return static_cast<T>(calculate(static_cast<Unsigned>(a), static_cast<Unsigned>(b)));
    } else {
      return calculate(a, b);
    }
  };
  // With a NaN neither comparison is true: it wins in either place.
  if constexpr (kOp == ReduceOp::kMin) {
    return left < right || left != left ? left : right;
  } else if constexpr (kOp == ReduceOp::kMax) {
    return left > right || left != left ? left : right;
  } else if constexpr (kOp == ReduceOp::kProduct) {
    return wrap(left, right, [](auto a, auto b) { return a * b; });
  } else {
    return wrap(left, right, [](auto a, auto b) { return a + b; });
  }
}

/// Returns logical "or" for sum and maximum, and "and" for product and minimum.
template <ReduceOp kOp>
base::Bool8 combine(base::Bool8 left, base::Bool8 right) {
  constexpr bool kIsAnd = kOp == ReduceOp::kProduct || kOp == ReduceOp::kMin;
  const bool a = left.byte != 0;
  const bool b = right.byte != 0;
  return {static_cast<std::uint8_t>(kIsAnd ? a && b : a || b)};
}

/// Combines block by block, so that the sums stay in the nearest cache, and in memory of its own,
/// so that the result may be one of the parts.
template <ReduceOp kOp, typename T>
void reduceBy(ArrayView<const void* const> parts, std::size_t count, T* result) {
  constexpr bool kIsHalf = std::is_same_v<T, base::Float16> || std::is_same_v<T, base::BFloat16>;
  using Total = std::conditional_t<kIsHalf, float, T>;
  const auto widen = [](T element) {
    if constexpr (kIsHalf) {
      return base::toFloat(element);
    } else {
      return element;
    }
  };
  constexpr std::size_t kBlock = 1024;
  std::array<Total, kBlock> totals;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t length = std::min(kBlock, count - begin);
    const T* const first = static_cast<const T*>(parts[0]) + begin;
    for (std::size_t i = 0; i < length; ++i) {
      totals[i] = widen(first[i]);
    }
    for (std::size_t part = 1; part < parts.size(); ++part) {
      const T* const next = static_cast<const T*>(parts[part]) + begin;
      for (std::size_t i = 0; i < length; ++i) {
        totals[i] = combine<kOp>(totals[i], widen(next[i]));
      }
    }
    T* const to = result + begin;
    for (std::size_t i = 0; i < length; ++i) {
      Total total = totals[i];
      if constexpr (std::is_floating_point_v<Total> && kOp == ReduceOp::kAverage) {
        total /= static_cast<Total>(parts.size());
      }
      if constexpr (kIsHalf) {
        to[i] = narrow(total, T{});
      } else {
        to[i] = total;
      }
    }
  }
}

template <typename T>
void reduceAs(ArrayView<const void* const> parts, std::size_t count, ReduceOp op, T* result) {
  switch (op) {
    case ReduceOp::kSum:
      return reduceBy<ReduceOp::kSum>(parts, count, result);
    case ReduceOp::kAverage:
      return reduceBy<ReduceOp::kAverage>(parts, count, result);
    case ReduceOp::kMin:
      return reduceBy<ReduceOp::kMin>(parts, count, result);
    case ReduceOp::kMax:
      return reduceBy<ReduceOp::kMax>(parts, count, result);
    case ReduceOp::kProduct:
      return reduceBy<ReduceOp::kProduct>(parts, count, result);
  }
}

template <typename T>
void divideAs(T* data, std::size_t count, int divisor) {
  std::for_each(data, data + count, [divisor](T& value) { value /= static_cast<T>(divisor); });
}

}  // namespace

void reduceElements(ArrayView<const void* const> parts, std::size_t count, DType dtype, ReduceOp op,
                    void* result) {
  switch (dtype) {
    case DType::kBool:
      return reduceAs(parts, count, op, static_cast<base::Bool8*>(result));
    case DType::kUInt8:
      return reduceAs(parts, count, op, static_cast<std::uint8_t*>(result));
    case DType::kInt8:
      return reduceAs(parts, count, op, static_cast<std::int8_t*>(result));
    case DType::kUInt16:
      return reduceAs(parts, count, op, static_cast<std::uint16_t*>(result));
    case DType::kInt16:
      return reduceAs(parts, count, op, static_cast<std::int16_t*>(result));
    case DType::kUInt32:
      return reduceAs(parts, count, op, static_cast<std::uint32_t*>(result));
    case DType::kInt32:
      return reduceAs(parts, count, op, static_cast<std::int32_t*>(result));
    case DType::kUInt64:
      return reduceAs(parts, count, op, static_cast<std::uint64_t*>(result));
    case DType::kInt64:
      return reduceAs(parts, count, op, static_cast<std::int64_t*>(result));
    case DType::kFloat16:
      return reduceAs(parts, count, op, static_cast<base::Float16*>(result));
    case DType::kBFloat16:
      return reduceAs(parts, count, op, static_cast<base::BFloat16*>(result));
    case DType::kFloat32:
      return reduceAs(parts, count, op, static_cast<float*>(result));
    case DType::kFloat64:
      return reduceAs(parts, count, op, static_cast<double*>(result));
  }
}

void divideElements(void* data, std::size_t count, DType dtype, int divisor) {
  if (dtype == DType::kFloat32) {
    divideAs(static_cast<float*>(data), count, divisor);
  } else if (dtype == DType::kFloat64) {
    divideAs(static_cast<double*>(data), count, divisor);
  }
}

}  // namespace steptape::detail::ranks
