// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace steptape {

/// What the operators of the forward pass calculate in. Parameters, gradients and the optimizer's
/// state keep the type of the model.
enum class Precision {
  kFull,  ///< The model's own type.
  /// LibTorch's autocast to bfloat16, for matrix products and convolutions: float32's range, 8 bits
  /// of precision. On a GPU with tensor cores a gain; on a CPU only where it has bfloat16
  /// instructions (AVX512_BF16, AMX), and otherwise slower than kFull.
  kBfloat16,
  /// LibTorch's autocast to float16, with a scaled loss. For GPUs; on a CPU it is slow, and
  /// LibTorch before 2.4 has none.
  kFloat16,
};

/// How the loss is scaled under Precision::kFloat16, so that small gradients are not rounded to 0.
///
/// The gradients are divided by the scale once the ranks have averaged them, and before they are
/// clipped. Where one is then infinite or NaN, the optimizer makes no step and the scale shrinks.
/// All ranks see the same averages, so that all leave out the same step; it counts in every other
/// way.
///
/// @source Micikevicius et al., "Mixed Precision Training", arXiv:1710.03740, section 3.2.
struct LossScaleOptions {
  double initial = 65536;
  double growthFactor = 2;     ///< After growthSteps steps without an infinity.
  double backoffFactor = 0.5;  ///< After a step with one.
  std::int64_t growthSteps = 2000;
};

}  // namespace steptape
