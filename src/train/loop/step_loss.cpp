// SPDX-License-Identifier: Apache-2.0
#include "train/loop/step_loss.h"

namespace steptape::detail::train {

void StepLoss::add(const at::Tensor& loss) {
  const libtorch::DeviceCopier& copier = libtorch::DeviceCopier::current();
  if (copier.canCopy(loss)) {
    arriving_.push_back(copier.copy(loss.detach()));
  } else {
    sum_ += loss.item<double>();
  }
  ++batches_;
}

double StepLoss::value() const {
  for (const libtorch::DeviceCopier::Copy& copy : arriving_) {
    copy.arrival->wait();
    sum_ += copy.host.item<double>();
  }
  arriving_.clear();
  return batches_ == 0 ? std::numeric_limits<double>::quiet_NaN()
                       : sum_ / static_cast<double>(batches_);
}

}  // namespace steptape::detail::train
