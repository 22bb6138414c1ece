// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/error.h"

#include <gtest/gtest.h>

namespace steptape {

/// Expects `statement` to throw an invalid-argument Error with exactly this message.
template <typename Statement>
void expectInvalidArgument(Statement&& statement, const std::string& message) {
  try {
    statement();
    ADD_FAILURE() << "nothing thrown, wanted: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(std::string(error.what()), message);
  }
}

}  // namespace steptape
