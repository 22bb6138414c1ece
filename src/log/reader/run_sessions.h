// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "steptape/log/run_reader.h"

#include "log/reader/series_batch.h"

namespace steptape::detail::log {

/// Joins the times of files to sessions: RunReader::sessions().
///
/// Files belong to one session if their times overlap, or if one process wrote them. Their names
/// tell the process, and count its files:
/// `events.out.tfevents.<seconds>.<host>.<process>.<number>`, of Steptape, torch and TensorFlow. In
/// a container each start may have the same process number, but counts from 0 again.
std::vector<RunSession> sessionsOf(const std::vector<std::string>& paths,
                                   const std::vector<EventTimes>& times);

}  // namespace steptape::detail::log
