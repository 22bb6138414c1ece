// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace steptape::detail {

/// Returns whether TensorBoard regards the file as an event file.
/// @source tensorboard/backend/event_processing/io_wrapper.py; tensorboard/data/server/logdir.rs
inline bool isEventFileName(std::string_view name) {
  return name.find("tfevents") != std::string_view::npos;
}

}  // namespace steptape::detail
