// SPDX-License-Identifier: Apache-2.0
#include "steptape/base/status.h"

#include "base/never_destroyed.h"

namespace steptape {

const std::string& Status::message() const noexcept {
  static const detail::base::NeverDestroyed<std::string> kEmpty;
  return state_ ? state_->message : *kEmpty;
}

void Status::throwIfError() const {
  if (state_) {
    throw Error(state_->code, state_->message);
  }
}

}  // namespace steptape
