// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::test {

/// Returns the error that `action` throws; fails the test if it throws none.
template <typename Action>
Error errorOf(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "got no Error; expected one";
  return Error(ErrorCode::kInvalidArgument, "");
}

/// Expects that `action` throws an Error with `code` whose message contains `part`.
template <typename Action>
void expectError(ErrorCode code, const std::string& part, const Action& action) {
  const Error error = errorOf(action);
  EXPECT_STREQ(errorCodeName(error.code()), errorCodeName(code));
  EXPECT_THAT(error.what(), ::testing::HasSubstr(part));
}

/// Expects that `action` throws an Error(kInvalidArgument) with exactly this message.
template <typename Action>
void expectInvalidArgument(const Action& action, const std::string& message) {
  const Error error = errorOf(action);
  EXPECT_STREQ(errorCodeName(error.code()), errorCodeName(ErrorCode::kInvalidArgument));
  EXPECT_EQ(std::string(error.what()), message);
}

}  // namespace steptape::test
