// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/log/run_files.h"

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
  std::size_t maxFindings = 10'000;
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

}  // namespace steptape
