// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

namespace steptape {

/// One difference between a repaired file and the original.
struct RepairStep {
  enum class Kind {
    kLeftOut,      ///< The bytes are left out of the repaired file.
    kTimeSet,      ///< A wall time is added to the record, whose own is not finite.
    kMetadataSet,  ///< The lost metadata of a tag is added to the record.
  };
  Kind kind = Kind::kLeftOut;
  std::uint64_t offset = 0;  ///< In the original.
  std::uint64_t bytes = 0;   ///< In the original.
  std::string tag;           ///< For kMetadataSet; else empty.
  std::string why;
};

/// The result of a repair.
struct RepairReport {
  std::uint64_t recordsKept = 0;   ///< Including records with additions.
  std::uint64_t bytesKept = 0;     ///< Of the original.
  std::uint64_t bytesLeftOut = 0;  ///< Of the original.
  std::uint64_t tagsRestored = 0;  ///< Tags whose lost metadata was added again.
  /// Tags whose metadata is unknown, because it may have been in the bytes that are left out.
  /// TensorBoard shows them only if an earlier file contains the metadata.
  std::vector<std::string> tagsWithoutMetadata;
  std::vector<RepairStep> steps;  ///< By offset.
  std::uint64_t moreSteps = 0;    ///< Steps beyond RepairOptions::maxSteps.
  std::string original;  ///< The path of the damaged file after a repair in place; else empty.

  bool isUnchanged() const { return steps.empty() && moreSteps == 0; }
};

struct RepairOptions {
  /// Whether the output may replace an existing file.
  bool overwrite = false;
  /// The most steps in the report; further steps are counted.
  std::size_t maxSteps = 10'000;
  /// Called regularly with the bytes read so far.
  std::function<void(std::uint64_t bytes)> onProgress;
};

/// Writes the intact records of `input` to the new file `output`, byte for byte and in order.
///
/// Leaves out the bytes at which one of TensorBoard's readers would stop: incomplete and damaged
/// records, records that are not events, and events with text that is not UTF-8.
///
/// An event whose wall time is not finite is kept. It gets the wall time of the event before it, or
/// of the first event with a finite one. The time is added as a second field of the event, which
/// takes precedence, so that the other bytes of the record stay unchanged.
///
/// Writers store the metadata of a tag with its first value only, and TensorBoard does not show a
/// tag whose first value has none. If the metadata may have been lost, the first remaining value
/// gets that of another value of the tag, in this file or in another event file beside `input` or
/// `output`; else metadata derived from the form of the value, which works for all kinds except
/// meshes and user-defined tensors. RepairReport lists these tags.
///
/// The output appears whole, with the permissions of the input, or not at all: it is first written
/// beside `output` under a name that TensorBoard does not treat as an event file.
///
/// @param input   The damaged file.
/// @param output  The repaired file.
/// @param options See RepairOptions.
/// @param report  Set also on failure, up to the point of failure.
/// @return kIoError if a file cannot be read or written; kFailedPrecondition if `output` exists and
///         may not be replaced; kDataLoss if no record is intact, such as in a file of another
///         format. Nothing is written then.
/// @throws Error(kInvalidArgument) if `output` is the file `input`.
/// @threads Thread-safe.
/// @cost    One pass; memory for twice the longest record and for each tag. If metadata is lost, a
///          second pass, which also reads the other files.
STEPTAPE_EXPORT Status repairEventFile(const std::string& input, const std::string& output,
                                       const RepairOptions& options, RepairReport* report);

/// Repairs `path` in place, as repairEventFile(). A file without damage stays unchanged.
///
/// The original is kept beside it: "tfevents" in its name becomes "tf-events", and ".damaged" is
/// appended, because TensorBoard reads every file with "tfevents" in its name; a number makes the
/// name unique. At every moment, also if the process is killed, `path` names a whole file. (On a
/// file system without hard links there is none for an instant.) Restart a running TensorBoard,
/// which has stopped reading the damaged file.
///
/// If `path` is a link, its target is repaired.
///
/// @param path    The damaged file.
/// @param options See RepairOptions; `overwrite` is not used.
/// @param report  Set also on failure, up to the point of failure.
/// @return as repairEventFile(); kFailedPrecondition also if the file grew during the repair: end
///         its writer first.
STEPTAPE_EXPORT Status repairEventFileInPlace(const std::string& path, const RepairOptions& options,
                                              RepairReport* report);

}  // namespace steptape
