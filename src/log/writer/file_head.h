// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "steptape/events/event.h"

#include "events/framing/record_buffer.h"

namespace steptape::detail::log {

/// Appends an event as a record.
/// @throws std::bad_alloc, and then has appended nothing.
void appendRecord(const event::Event& event, events::RecordBuffer* records);

/// The number of records that every file begins with.
constexpr std::uint64_t kHeadRecords = 2;

/// Returns these records: "brain.Event:2", without which a file is not readable, and SessionLog
/// START.
///
/// TensorBoard's Python loader lets the first START of a run only arm it, and purges at later ones:
/// so every file has one, and where nothing is to be purged its step lies beyond all steps.
///
/// @param purgeFrom Readers discard earlier points from this step on.
std::string fileHead(double wallTime, std::int64_t purgeFrom);

}  // namespace steptape::detail::log
