// SPDX-License-Identifier: Apache-2.0
#include "log/writer/curve_judge.h"

#include <new>
#include <utility>

namespace steptape::detail::log {

void CurveJudge::add(const std::string& tag, float value, std::int64_t step,
                     double wallTime) noexcept {
  try {
    check_.add(tag, step, double{value}, wallTime);
    hasPoints_ = true;
  } catch (const std::bad_alloc&) {
  }
}

void CurveJudge::tell() noexcept {
  if (!hasPoints_) {
    return;
  }
  hasPoints_ = false;
  try {
    tell(check_.take());
  } catch (...) {
    // As for `onError`: if the callback throws, the training continues.
  }
}

void CurveJudge::finish() noexcept {
  try {
    tell(check_.finish());
  } catch (...) {
  }
}

void CurveJudge::tell(std::vector<CurveFinding> findings) {
  for (CurveFinding& finding : findings) {
    finding.tag.insert(0, prefix_);
    run_.tell(finding);
  }
}

}  // namespace steptape::detail::log
