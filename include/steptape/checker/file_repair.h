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

/// One place at which a repaired file is not the original, byte for byte.
struct RepairStep {
  enum class Kind {
    kLeftOut,      ///< The bytes are not in the repaired file.
    kTimeSet,      ///< The record has a wall time added, since its own is no finite number.
    kMetadataSet,  ///< The record has the metadata of a tag added, which was lost.
  };
  Kind kind = Kind::kLeftOut;
  std::uint64_t offset = 0;  ///< In the original.
  std::uint64_t bytes = 0;   ///< In the original.
  std::string tag;           ///< Of kMetadataSet; else empty.
  std::string why;
};

/// What a repair did.
struct RepairReport {
  std::uint64_t recordsKept = 0;   ///< Those to which something was added too.
  std::uint64_t bytesKept = 0;     ///< Of the original.
  std::uint64_t bytesLeftOut = 0;  ///< Of the original.
  std::uint64_t tagsRestored = 0;  ///< Tags whose metadata was lost and has been added again.
  /// Tags whose metadata may have been in what is left out, and is unknown: TensorBoard does not
  /// show them unless a file before this one has it.
  std::vector<std::string> tagsWithoutMetadata;
  std::vector<RepairStep> steps;  ///< In the order of offsets.
  std::uint64_t moreSteps = 0;    ///< Beyond RepairOptions::maxSteps.
  std::string original;           ///< Where a repair in place keeps the damaged file; else empty.

  bool isUnchanged() const { return steps.empty() && moreSteps == 0; }
};

struct RepairOptions {
  /// Whether the output may replace a file that is there already.
  bool overwrite = false;
  /// The most steps that are kept in the report; those beyond are counted.
  std::size_t maxSteps = 10'000;
  /// Called now and then with the bytes read so far.
  std::function<void(std::uint64_t bytes)> onProgress;
};

/// Writes the intact records of `input` to the new file `output`, byte for byte and in order.
///
/// Left out is what keeps both of TensorBoard's readers from reading on: bytes that are no whole
/// record, records that hold no event, and events with text that is not UTF-8. An event whose wall
/// time is not finite stays, since its values are as good as others: it gets the wall time of the
/// event before it, or of the first one that has any. That is added as a second field of the event,
/// which takes precedence, so that nothing else of the record changes.
///
/// Writers put a tag's metadata with its first value only, and TensorBoard shows nothing of a tag
/// whose first value has none. Where the metadata may have been in what is left out, it is added to
/// the first value that remains: that of another value of the tag, in the file or in another event
/// file beside `input` or `output`; else what the form of the value tells, which is enough for all
/// kinds but meshes and tensors of the user's own. RepairReport says which tags these are.
///
/// The output appears whole, with the permissions of the input, or not at all: it is written under
/// another name beside `output` first, one that TensorBoard does not take for an event file.
///
/// @param report Set on failure too, as far as it came.
/// @return kIoError if a file cannot be read or written; kFailedPrecondition if `output` is there
///         and may not be replaced; kDataLoss if no record is intact, as of a file that is no event
///         file. Nothing is written then.
/// @throws Error(kInvalidArgument) if `output` is the file `input`.
/// @threads Thread-safe.
/// @cost    One pass; memory for the longest record, twice, and for each tag. If metadata is lost
///          one pass more, over the other files too.
STEPTAPE_EXPORT Status repairEventFile(const std::string& input, const std::string& output,
                                       const RepairOptions& options, RepairReport* report);

/// As repairEventFile(), in the place of `path`. A file with nothing to repair stays as it is.
///
/// The original stays beside it: "tfevents" in its name becomes "tf-events" and ".damaged" follows,
/// since TensorBoard takes every name with "tfevents" in it for an event file. A number keeps the
/// name from being one that is there. At every moment, also if the process is killed, there is a
/// whole file under the name `path`, unless the file system lacks hard links: then there is none
/// for an instant. A TensorBoard that is running has given the old file up and must be started
/// again.
///
/// A link is followed, and the file it leads to repaired.
///
/// @return As repairEventFile(); kFailedPrecondition also if the file grew meanwhile: its writer is
///         at work.
STEPTAPE_EXPORT Status repairEventFileInPlace(const std::string& path, const RepairOptions& options,
                                              RepairReport* report);

}  // namespace steptape
