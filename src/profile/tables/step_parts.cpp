// SPDX-License-Identifier: Apache-2.0
#include "profile/tables/step_parts.h"

#include <optional>

#include "base/text.h"
#include "profile/trace/known_names.h"

namespace steptape::detail::profile {
namespace {

StepPart partOf(NameMeaning meaning) {
  switch (meaning) {
    case NameMeaning::kCollective:
      return &StepSummary::transfer;
    case NameMeaning::kWait:
      return &StepSummary::wait;
    case NameMeaning::kInput:
      return &StepSummary::input;
    case NameMeaning::kForward:
      return &StepSummary::forward;
    case NameMeaning::kBackward:
      return &StepSummary::backward;
    case NameMeaning::kOptimizer:
      return &StepSummary::optimizer;
  }
  return nullptr;
}

}  // namespace

StepPart ownPartOf(const TraceName& name) {
  switch (name.kind) {
    case SpanKind::kInput:
      return &StepSummary::input;
    case SpanKind::kWait:
      return &StepSummary::wait;
    case SpanKind::kCollective:
      return &StepSummary::transfer;
    case SpanKind::kBackward:
      return &StepSummary::backward;
    default: {
      const std::optional<NameMeaning> meaning = meaningOf(name.text, name.kind);
      return meaning ? partOf(*meaning) : nullptr;
    }
  }
}

std::vector<StepPart> ownPartsOf(const std::vector<TraceName>& names) {
  std::vector<StepPart> parts;
  parts.reserve(names.size());
  for (const TraceName& name : names) {
    parts.push_back(ownPartOf(name));
  }
  return parts;
}

bool isCollectiveOfDevice(const TraceName& name) {
  return base::startsWith(name.text, "nccl") ||
         meaningOf(name.text, name.kind) == NameMeaning::kCollective;
}

}  // namespace steptape::detail::profile
