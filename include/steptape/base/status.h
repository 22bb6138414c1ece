// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "steptape/base/error.h"
#include "steptape/base/export.h"

namespace steptape {

/// The result of work that may fail in normal operation, such as a write to a full disk.
///
/// Success is a null pointer: cheap to return and to copy. Compilers warn about a Status that is
/// ignored. A writer also reports its failures through WriterOptions::onError.
///
/// @threads Thread-compatible: const methods may run concurrently.
class [[nodiscard]] STEPTAPE_EXPORT Status {
 public:
  /// Success.
  Status() = default;
  Status(ErrorCode code, std::string message)
      : state_(std::make_shared<State>(State{code, std::move(message)})) {}

  bool ok() const noexcept { return state_ == nullptr; }

  /// Returns what failed, where, what was got and expected; empty on success.
  const std::string& message() const noexcept;

  /// Returns the kind of failure. REQUIRES: !ok().
  ErrorCode code() const noexcept { return state_->code; }

  /// Throws the failure as an Error; does nothing on success.
  void throwIfError() const;

 private:
  struct State {
    ErrorCode code;
    std::string message;
  };
  std::shared_ptr<const State> state_;
};

}  // namespace steptape
