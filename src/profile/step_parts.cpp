// SPDX-License-Identifier: Apache-2.0
#include "profile/step_parts.h"

#include "base/text.h"

namespace steptape::detail {

std::int64_t StepSummary::*ownPartOf(const TraceName& name) {
  switch (name.kind) {
    case SpanKind::kInput:
      return &StepSummary::input;
    case SpanKind::kWait:
      return &StepSummary::wait;
    case SpanKind::kCollective:
      return &StepSummary::transfer;
    case SpanKind::kBackward:
      return &StepSummary::backward;
    case SpanKind::kOperator:
      // Autograd's own work around a backward node.
      return startsWith(name.text, "autograd::engine::") ? &StepSummary::backward : nullptr;
    default:
      return startsWith(name.text, "optimizer") || startsWith(name.text, "Optimizer.step")
                 ? &StepSummary::optimizer
                 : nullptr;
  }
}

}  // namespace steptape::detail
