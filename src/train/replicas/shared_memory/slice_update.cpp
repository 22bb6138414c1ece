// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/shared_memory/slice_update.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/vector_clones.h"

namespace steptape::detail::train {
namespace {

/// Elements per block, so that a block's sum is still in the first-level cache when it is used.
constexpr std::size_t kBlock = 1024;

/// Writes elements [at, at + n) of `sum` to `result`.
template <typename T>
inline void addUp(const ArraySum<T>& sum, T* __restrict result, std::size_t at, std::size_t n) {
  const ArrayView<const T* const> arrays = sum.arrays;
  const T scale = sum.scale;
  const T* first = arrays[0] + at;
  if (arrays.size() == 1) {
    for (std::size_t i = 0; i < n; ++i) {
      result[i] = first[i] * scale;
    }
    return;
  }
  const T* second = arrays[1] + at;
  if (arrays.size() == 2) {
    for (std::size_t i = 0; i < n; ++i) {
      result[i] = (first[i] + second[i]) * scale;
    }
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    result[i] = first[i] + second[i];
  }
  for (std::size_t rank = 2; rank < arrays.size(); ++rank) {
    const T* next = arrays[rank] + at;
    for (std::size_t i = 0; i < n; ++i) {
      result[i] += next[i];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    result[i] *= scale;
  }
}

/// Calls `use(block, at, n)` with the sum of elements [at, at + n), block by block.
template <typename T, typename Use>
inline void forEachBlock(const ArraySum<T>& sum, std::size_t begin, std::size_t end,
                         const Use& use) {
  alignas(64) std::array<T, kBlock> block;
  for (std::size_t at = begin; at < end; at += kBlock) {
    const std::size_t n = std::min(kBlock, end - at);
    addUp(sum, block.data(), at, n);
    use(block.data(), at, n);
  }
}

template <typename T>
inline void writeSumTo(const ArraySum<T>& sum, ArrayView<T* const> results, std::size_t begin,
                       std::size_t end) {
  forEachBlock(sum, begin, end, [&](const T* block, std::size_t at, std::size_t n) {
    for (T* result : results) {
      std::memcpy(result + at, block, n * sizeof(T));
    }
  });
}

template <typename T>
inline double squares(const T* data, std::size_t size) {
  // Several sums, because dependent additions cost four cycles each.
  std::array<double, 16> sums{};
  std::size_t i = 0;
  for (; i + sums.size() <= size; i += sums.size()) {
    for (std::size_t lane = 0; lane < sums.size(); ++lane) {
      const double value = static_cast<double>(data[i + lane]);
      sums[lane] += value * value;
    }
  }
  double total = 0;
  for (; i < size; ++i) {
    total += static_cast<double>(data[i]) * static_cast<double>(data[i]);
  }
  for (const double sum : sums) {
    total += sum;
  }
  return total;
}

template <typename T>
inline void addDecay(T* __restrict g, const T* p, double weightDecay, std::size_t n) {
  if (weightDecay == 0) {
    return;
  }
  const T factor = static_cast<T>(weightDecay);
  for (std::size_t i = 0; i < n; ++i) {
    g[i] += factor * p[i];
  }
}

template <typename T>
inline void moveMomentum(const SgdUpdate& step, T* __restrict m, const T* g, std::size_t n) {
  if (step.isFirst) {
    std::memcpy(m, g, n * sizeof(T));
    return;
  }
  const T kept = static_cast<T>(step.momentum);
  const T added = static_cast<T>(1 - step.dampening);
  for (std::size_t i = 0; i < n; ++i) {
    m[i] = kept * m[i] + added * g[i];
  }
}

template <typename T>
inline void updateSgd(const SgdUpdate& step, const ArraySum<T>& gradient, T* parameters,
                      T* momentum, std::size_t begin, std::size_t end) {
  const T lr = static_cast<T>(step.lr);
  const T kept = static_cast<T>(step.momentum);
  forEachBlock(gradient, begin, end, [&](T* __restrict g, std::size_t at, std::size_t n) {
    T* __restrict p = parameters + at;
    addDecay(g, p, step.weightDecay, n);
    const T* direction = g;
    if (momentum != nullptr) {
      T* __restrict m = momentum + at;
      moveMomentum(step, m, g, n);
      if (step.nesterov) {
        for (std::size_t i = 0; i < n; ++i) {
          g[i] += kept * m[i];
        }
      } else {
        direction = m;
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      p[i] -= lr * direction[i];
    }
  });
}

template <typename T>
inline void updateAdam(const AdamUpdate& step, const ArraySum<T>& gradient, T* parameters,
                       const AdamState<T>& state, std::size_t begin, std::size_t end) {
  const T beta1 = static_cast<T>(step.beta1);
  const T beta2 = static_cast<T>(step.beta2);
  const T added1 = static_cast<T>(1 - step.beta1);
  const T added2 = static_cast<T>(1 - step.beta2);
  const T kept = static_cast<T>(step.decoupled ? 1 - step.lr * step.weightDecay : 1);
  const T root = static_cast<T>(std::sqrt(step.biasCorrection2));
  const T eps = static_cast<T>(step.eps);
  const T stepSize = static_cast<T>(step.lr / step.biasCorrection1);
  forEachBlock(gradient, begin, end, [&](T* __restrict g, std::size_t at, std::size_t n) {
    T* __restrict p = parameters + at;
    T* __restrict mean = state.mean + at;
    T* __restrict square = state.meanSquare + at;
    addDecay(g, p, step.decoupled ? 0 : step.weightDecay, n);
    for (std::size_t i = 0; i < n; ++i) {
      mean[i] = beta1 * mean[i] + added1 * g[i];
      square[i] = beta2 * square[i] + added2 * g[i] * g[i];
    }
    const T* divisor = square;
    if (state.maxMeanSquare != nullptr) {
      T* __restrict largest = state.maxMeanSquare + at;
      for (std::size_t i = 0; i < n; ++i) {
        largest[i] = largest[i] < square[i] ? square[i] : largest[i];
      }
      divisor = largest;
    }
    for (std::size_t i = 0; i < n; ++i) {
      p[i] = kept * p[i] - stepSize * mean[i] / (std::sqrt(divisor[i]) / root + eps);
    }
  });
}

}  // namespace

STEPTAPE_VECTOR_CLONES void writeSum(const ArraySum<float>& sum, ArrayView<float* const> results,
                                     std::size_t begin, std::size_t end) {
  writeSumTo(sum, results, begin, end);
}
STEPTAPE_VECTOR_CLONES double sumOfSquares(const float* data, std::size_t size) {
  return squares(data, size);
}
STEPTAPE_VECTOR_CLONES void update(const SgdUpdate& step, const ArraySum<float>& gradient,
                                   float* parameters, float* momentum, std::size_t begin,
                                   std::size_t end) {
  updateSgd(step, gradient, parameters, momentum, begin, end);
}
STEPTAPE_VECTOR_CLONES void update(const AdamUpdate& step, const ArraySum<float>& gradient,
                                   float* parameters, const AdamState<float>& state,
                                   std::size_t begin, std::size_t end) {
  updateAdam(step, gradient, parameters, state, begin, end);
}

STEPTAPE_VECTOR_CLONES void writeSum(const ArraySum<double>& sum, ArrayView<double* const> results,
                                     std::size_t begin, std::size_t end) {
  writeSumTo(sum, results, begin, end);
}
STEPTAPE_VECTOR_CLONES double sumOfSquares(const double* data, std::size_t size) {
  return squares(data, size);
}
STEPTAPE_VECTOR_CLONES void update(const SgdUpdate& step, const ArraySum<double>& gradient,
                                   double* parameters, double* momentum, std::size_t begin,
                                   std::size_t end) {
  updateSgd(step, gradient, parameters, momentum, begin, end);
}
STEPTAPE_VECTOR_CLONES void update(const AdamUpdate& step, const ArraySum<double>& gradient,
                                   double* parameters, const AdamState<double>& state,
                                   std::size_t begin, std::size_t end) {
  updateAdam(step, gradient, parameters, state, begin, end);
}

}  // namespace steptape::detail::train
