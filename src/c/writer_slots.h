// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "steptape/c/steptape.h"
#include "steptape/log/summary_writer.h"

#include "c/calls.h"

/// What a handle of C refers to. Never freed and never used again, so that a handle whose writer
/// was closed is recognized: 16 bytes for each writer of a process.
struct steptape_writer {
  std::atomic<steptape::SummaryWriter*> writer;
};

namespace steptape::detail::c {

/// Returns a handle of the writer, which closes when the process ends by exit().
steptape_writer* makeSlot(std::unique_ptr<SummaryWriter> writer);
/// Takes the writer from its handle. @return null if it was closed.
std::unique_ptr<SummaryWriter> takeFrom(steptape_writer* slot) noexcept;

/// Keeps "the writer is NULL" or "the writer is closed" as the reason of a failure.
steptape_status failForWriter(const char* function, const steptape_writer* slot) noexcept;

/// Returns the writer of a handle, or null.
inline SummaryWriter* writerOf(const steptape_writer* slot) noexcept {
  return slot == nullptr ? nullptr : slot->writer.load(std::memory_order_relaxed);
}

/// As call(), for a function of an open writer. `__func__` of a lambda would name the lambda.
template <typename Body>
steptape_status callOpen(const char* function, const steptape_writer* slot,
                         const Body& body) noexcept {
  SummaryWriter* const open = writerOf(slot);
  return open == nullptr ? failForWriter(function, slot) : call(function, [&] { body(*open); });
}

}  // namespace steptape::detail::c
