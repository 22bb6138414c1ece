// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/reader/run_files.h"

namespace steptape {

/// What a finding means for one of TensorBoard's two readers.
enum class ReaderEffect {
  kNone,  ///< It shows everything as it is meant.
  kNote,  ///< Nothing is lost, but what it shows may surprise.
  kLoss,  ///< It shows less than the file holds, or something else.
};

/// One thing that a reader of TensorBoard trips over.
struct Finding {
  std::string rule;  ///< Short, and the same in all versions; docs/tool.md lists all rules.
  std::string path;
  std::uint64_t offset = 0;  ///< Where the record or the damage begins.
  std::uint64_t bytes = 0;   ///< Of the record or the damage; 0 where the whole file is meant.
  std::string tag;           ///< Empty where it concerns no tag.
  std::string message;  ///< What, got, wanted, and what comes of it; UTF-8 if the file's texts are.
  ReaderEffect fastServer = ReaderEffect::kNone;
  ReaderEffect pythonLoader = ReaderEffect::kNone;
  std::uint64_t count =
      1;  ///< How often: a rule is reported once for a tag, where it is first broken.

  bool isLoss() const {
    return fastServer == ReaderEffect::kLoss || pythonLoader == ReaderEffect::kLoss;
  }
};

struct CheckOptions {
  /// The most findings that are kept; those beyond are counted.
  std::size_t maxFindings = 10'000;
  /// Called now and then with the bytes checked so far.
  std::function<void(std::uint64_t bytes)> onProgress;
};

/// The record with which a run names the columns of its hyperparameter study.
struct ExperimentRecord {
  std::string path;
  std::uint64_t offset = 0;
  std::string content;
};

/// Whether TensorBoard would show all that a run holds.
struct CheckReport {
  std::vector<Finding> findings;   ///< In the order of files and of offsets.
  std::uint64_t moreFindings = 0;  ///< Beyond CheckOptions::maxFindings.
  std::uint64_t records = 0;       ///< Whole ones.
  std::uint64_t bytes = 0;         ///< Of all files.
  /// The worst effects of all findings, kept or not.
  ReaderEffect fastServer = ReaderEffect::kNone;
  ReaderEffect pythonLoader = ReaderEffect::kNone;
  std::optional<ExperimentRecord> experiment;  ///< The run's first, for findExperimentConflicts().
};

/// Checks a run as TensorBoard's readers would read it: the data server in Rust, which is what
/// users get, and the loader in Python, `--load_fast=false`, which also reads from most clouds.
///
/// It reads every byte, goes on behind damage, and judges each record by what both readers do with
/// it. It assumes that nobody writes to the files any more. What a program means to overwrite by a
/// restart, SessionLog START, is no finding. Not checked: what a plugin's page makes of well-formed
/// values, and sampling.
///
/// What the files hold never throws; a file that cannot be read is a finding.
///
/// @threads Thread-safe.
/// @cost    One pass; memory for each tag, for `maxFindings`, and for the longest record.
/// @source  tensorboard 2.21 and tensorboard-data-server 0.7.2, whose behavior the rules were
///          checked against; docs/tool.md lists them
STEPTAPE_EXPORT CheckReport checkRun(const RunFiles& run, const CheckOptions& options = {});

/// As checkRun(), for one file as a run of its own.
STEPTAPE_EXPORT CheckReport checkEventFile(const std::string& path,
                                           const CheckOptions& options = {});

/// The runs of one log directory whose experiment record is not that of the first run that has one:
/// TensorBoard takes any one of them for all runs.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT std::vector<Finding> findExperimentConflicts(
    const std::vector<CheckReport>& reports);

}  // namespace steptape
