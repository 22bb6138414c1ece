// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "steptape/base/status.h"

namespace steptape::detail::log {

/// The prefix of errors about arguments, with the call and the tag: `addImage "sample": got ...`.
class CallSite {
 public:
  /// For a call without a tag, such as addHparams().
  explicit CallSite(std::string call) : prefix_(std::move(call)) {}
  CallSite(const std::string& call, const std::string& tag) : prefix_(call + " \"" + tag + "\"") {}

  /// Calls `work()` and returns its result; prefixes an Error's message with the call and the tag.
  template <typename Work>
  auto run(const Work& work) const {
    try {
      return work();
    } catch (const Error& error) {
      throw Error(error.code(), prefix_ + ": " + error.what());
    }
  }

 private:
  std::string prefix_;
};

}  // namespace steptape::detail::log
