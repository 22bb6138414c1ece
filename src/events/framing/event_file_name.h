// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace steptape::detail::events {

/// Returns whether TensorBoard regards the file as an event file.
/// @source tensorboard/backend/event_processing/io_wrapper.py; tensorboard/data/server/logdir.rs
inline bool isEventFileName(std::string_view name) {
  return name.find("tfevents") != std::string_view::npos;
}

/// Returns whether MindSpore's SummaryRecord writes summaries to files of this name.
/// @source mindspore/train/summary/_summary_adapter.py, get_event_file_name()
inline bool isMindSporeFileName(std::string_view name) {
  constexpr std::string_view kLineage = "_lineage";  // parameters of the training, another format
  return name.find(".out.events.summary.") != std::string_view::npos &&
         (name.size() < kLineage.size() || name.substr(name.size() - kLineage.size()) != kLineage);
}

/// Returns whether a file of this name is read as a file of its directory's run.
inline bool isRunFileName(std::string_view name) {
  return isEventFileName(name) || isMindSporeFileName(name);
}

}  // namespace steptape::detail::events
