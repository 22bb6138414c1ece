// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "server/store/served_run.h"

namespace steptape::detail::server {

/// Returns at most `most` points of a tag as a tensorboard.data.ScalarData; see chooseScalars().
/// REQUIRES: it has scalars.
///
/// By hand, because half of the time of an answer was in adding half a million points to a message
/// one by one.
std::string encodeScalarData(const TagView& tag, std::size_t most);

}  // namespace steptape::detail::server
