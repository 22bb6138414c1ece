// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/log/run_reader.h"

namespace steptape {

/// The effect of a finding on one of TensorBoard's two readers.
enum class ReaderEffect {
  kNone,  ///< The reader shows everything correctly.
  kNote,  ///< Nothing is lost, but the display may be unexpected.
  kLoss,  ///< The reader shows less than the file contains, or wrong data.
};

/// One problem of a file for a reader of TensorBoard.
struct Finding {
  std::string rule;  ///< A short, stable name; docs/tool.md lists all rules.
  std::string path;
  std::uint64_t offset = 0;  ///< Of the record or the damage.
  std::uint64_t bytes = 0;   ///< Of the record or the damage; 0 for the whole file.
  std::string tag;           ///< Empty if the finding has no tag.
  /// What was got, what was expected, and the consequence; UTF-8 if the texts in the file are.
  std::string message;
  ReaderEffect fastServer = ReaderEffect::kNone;
  ReaderEffect pythonLoader = ReaderEffect::kNone;
  /// Number of occurrences: a rule is reported once for a tag, at the first occurrence.
  std::uint64_t count = 1;

  bool isLoss() const {
    return fastServer == ReaderEffect::kLoss || pythonLoader == ReaderEffect::kLoss;
  }
};

struct CheckOptions {
  /// The most findings in the report; further findings are counted.
  std::int64_t maxFindings = 10'000;
  /// Called regularly with the bytes checked so far.
  std::function<void(std::uint64_t bytes)> onProgress;
};

/// The record of a run that names the columns of its hyperparameter study.
struct ExperimentRecord {
  std::string path;
  std::uint64_t offset = 0;
  std::string content;
};

/// The findings of a check: whether TensorBoard shows all data of a run.
struct CheckReport {
  std::vector<Finding> findings;   ///< By file and offset.
  std::uint64_t moreFindings = 0;  ///< Findings beyond CheckOptions::maxFindings.
  std::uint64_t records = 0;       ///< Number of whole records.
  std::uint64_t bytes = 0;         ///< Of all files.
  /// The worst effects of all findings, including those beyond the limit.
  ReaderEffect fastServer = ReaderEffect::kNone;
  ReaderEffect pythonLoader = ReaderEffect::kNone;
  std::optional<ExperimentRecord> experiment;  ///< The run's first, for findExperimentConflicts().
};

/// Checks how TensorBoard's two readers would read a run: the data server in Rust, which is the
/// default, and the Python loader, `--load_fast=false`, which also reads most cloud storage.
///
/// Reads every byte, continues after damage, and judges each record by its effect on both readers.
/// Assumes that no program still writes to the files. Points that a restart, SessionLog START,
/// discards are not findings. The pages of scalars, histograms, distributions, texts, images,
/// audio, PR curves, hyperparameters and custom scalars are taken into account; sampling is not.
///
/// Never throws for the contents of files; a file that cannot be read is a finding.
///
/// @threads Thread-safe.
/// @cost    One pass; memory for each tag, for `maxFindings`, and for the longest record.
/// @source  The behavior of tensorboard 2.21 and tensorboard-data-server 0.7.2; docs/tool.md lists
///          the rules.
STEPTAPE_EXPORT CheckReport checkRun(const RunFiles& run, const CheckOptions& options = {});

/// Checks one file as a run of its own, as checkRun().
STEPTAPE_EXPORT CheckReport checkEventFile(const std::string& path,
                                           const CheckOptions& options = {});

/// Finds the runs of one log directory whose experiment record differs from the first one:
/// TensorBoard uses the record of an arbitrary run for all runs.
///
/// @param reports The reports of all runs of the log directory.
/// @return a finding for each run that differs.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT std::vector<Finding> findExperimentConflicts(
    const std::vector<CheckReport>& reports);

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
  std::int64_t maxSteps = 10'000;
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
