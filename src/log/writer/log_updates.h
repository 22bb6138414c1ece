// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "log/writer/box_records.h"
#include "log/writer/captured_queue.h"
#include "log/writer/kill_proof_log.h"
#include "log/writer/ring_merge.h"
#include "log/writer/run_streams.h"

namespace steptape::detail::log {

/// Brings to the kill-proof log what the streams of all runs have and no file holds yet, so that
/// the rings may overwrite it.
///
/// @threads Not thread-safe: only for the backend thread.
class LogUpdates {
 public:
  using Runs = std::function<std::vector<std::shared_ptr<RunStreams>>()>;

  /// @param log  Outlives this object, as the next two do.
  /// @param runs Returns those whose streams are meant.
  LogUpdates(KillProofLog* log, RingMerge* rings, CapturedQueue* captured, Runs runs);

  /// Makes everything safe that the streams have and no file holds yet: the entries in the rings
  /// then need their places no more. Must come before any write. REQUIRES: all drained entries are
  /// encoded
  void secure();
  /// Instead of secure(), spares the log the bytes of streams that are about to be written: it
  /// names the writes, and the ring keeps its entries until secure() after them.
  ///
  /// @return false if streams have more than the entries of this ring: nothing is done then.
  bool announceWrites();

 private:
  void logChanges(bool everything);

  KillProofLog& log_;
  RingMerge& rings_;
  CapturedQueue& captured_;
  const Runs runs_;
  LogRecordBuilder record_;  // kept for its memory
};

}  // namespace steptape::detail::log
