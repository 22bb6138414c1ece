// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "steptape/profile/trace.h"

#include "profile/trace/perfetto/perfetto_sequence.h"
#include "profile/trace/trace_text.h"

namespace steptape::detail::profile {

/// Writes the memory events of a trace: an instant for each on the track of its thread, and what
/// the device has allocated and reserved after it as counters of the process.
void writePerfettoMemory(const Trace& trace, std::uint64_t processTrack,
                         const std::vector<std::uint64_t>& threadTracks, PerfettoFileState* file,
                         TraceText* text);

}  // namespace steptape::detail::profile
