// SPDX-License-Identifier: Apache-2.0
#include "train/loop/objective.h"

#include <string>
#include <utility>

#include "steptape/base/status.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/nll_loss.h>
#include <torch/version.h>

namespace steptape::detail::train {
namespace {

// Since 2.4, autocast functions take the device; before, each device has its own functions.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
constexpr bool kHasFloat16OnCpu = true;

bool autocastIsOn(c10::DeviceType device) {
  return at::autocast::is_autocast_enabled(device);
}
void setAutocast(c10::DeviceType device, bool on) {
  at::autocast::set_autocast_enabled(device, on);
}
at::ScalarType autocastType(c10::DeviceType device) {
  return at::autocast::get_autocast_dtype(device);
}
void setAutocastType(c10::DeviceType device, at::ScalarType type) {
  at::autocast::set_autocast_dtype(device, type);
}
#else
constexpr bool kHasFloat16OnCpu = false;

bool autocastIsOn(c10::DeviceType device) {
  return device == c10::kCPU ? at::autocast::is_cpu_enabled() : at::autocast::is_enabled();
}
void setAutocast(c10::DeviceType device, bool on) {
  device == c10::kCPU ? at::autocast::set_cpu_enabled(on) : at::autocast::set_enabled(on);
}
at::ScalarType autocastType(c10::DeviceType device) {
  return device == c10::kCPU ? at::autocast::get_autocast_cpu_dtype()
                             : at::autocast::get_autocast_gpu_dtype();
}
void setAutocastType(c10::DeviceType device, at::ScalarType type) {
  device == c10::kCPU ? at::autocast::set_autocast_cpu_dtype(type)
                      : at::autocast::set_autocast_gpu_dtype(type);
}
#endif

/// Makes operators compute in `type` during its lifetime. Leaving the outermost scope drops the
/// parameters' copies in that type, which the next step would find outdated.
class AutocastScope {
 public:
  AutocastScope(c10::DeviceType device, at::ScalarType type)
      : device_(device), wasOn_(autocastIsOn(device)), typeBefore_(autocastType(device)) {
    setAutocast(device, true);
    setAutocastType(device, type);
    at::autocast::increment_nesting();
  }
  ~AutocastScope() {
    if (at::autocast::decrement_nesting() == 0) {
      at::autocast::clear_cache();
    }
    setAutocast(device_, wasOn_);
    setAutocastType(device_, typeBefore_);
  }
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  c10::DeviceType device_;
  bool wasOn_;
  at::ScalarType typeBefore_;
};

at::Tensor negativeLogLikelihood(const at::Tensor& output, const at::Tensor& targets) {
  if (targets.is_floating_point()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        std::string("Trainer: got targets of the type ") + c10::toString(targets.scalar_type()) +
            " for the default loss; expected int64 class numbers, or a TrainerOptions::loss for "
            "such targets, such as at::mse_loss()");
  }
  return at::nll_loss(output, targets);
}

void checkPrecision(Precision precision, c10::Device device) {
  if (precision == Precision::kFull) {
    return;
  }
  if (!device.is_cpu() && !device.is_cuda()) {
    throw Error(ErrorCode::kInvalidArgument,
                "Trainer: got a mixed precision on " + device.str() + "; expected cpu or cuda");
  }
  if (precision == Precision::kFloat16 && device.is_cpu() && !kHasFloat16OnCpu) {
    throw Error(ErrorCode::kInvalidArgument,
                "Trainer: got Precision::kFloat16 on cpu, which "
                "LibTorch " TORCH_VERSION " does not support; expected kBfloat16 or a GPU");
  }
}

}  // namespace

Objective::Objective(Forward forward, LossFunction loss, Precision precision, c10::Device device)
    : forward_(std::move(forward)),
      loss_(loss ? std::move(loss) : negativeLogLikelihood),
      precision_(precision),
      device_(device) {
  checkPrecision(precision, device);
}

Outcome Objective::operator()(const Batch& batch) const {
  Outcome outcome;
  const auto calculate = [&] {
    outcome.output = forward_(batch.inputs);
    outcome.loss = loss_(outcome.output, batch.targets);
  };
  if (precision_ == Precision::kFull) {
    calculate();
  } else {
    const AutocastScope scope(device_.type(),
                              precision_ == Precision::kFloat16 ? at::kHalf : at::kBFloat16);
    calculate();
  }
  return outcome;
}

void Objective::toDevice(Batch& batch) const {
  if (!device_.is_cpu()) {
    // Asynchronous: the copy overlaps with the host's work if the memory is page-locked.
    batch.inputs = batch.inputs.to(device_, /*non_blocking=*/true);
    batch.targets = batch.targets.to(device_, /*non_blocking=*/true);
  }
}

}  // namespace steptape::detail::train
