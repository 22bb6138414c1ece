// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <functional>
#include <string>

#include "steptape/base/export.h"

namespace steptape::detail::process {

/// Returns the value of an environment variable, or null.
using VariableLookup = std::function<const char*(const char*)>;

/// Looks into the environment of this process.
inline const char* variableOfProcess(const char* name) {
  return std::getenv(name);
}

/// What tells the processes of one job from those of another, as far as this process knows it.
/// A text is empty if nothing is known.
struct STEPTAPE_EXPORT JobIdentity {
  std::string name;     ///< Of the variable STEPTAPE_JOB.
  std::string run;      ///< Of torchrun's `--rdzv-id`, unless that is its default, "none".
  std::string job;      ///< Of a scheduler: "job 41 of Slurm".
  std::string step;     ///< The number of Slurm's step.
  std::string user;     ///< The user's number.
  std::string process;  ///< "process 123 on node7"; does not tell jobs apart.

  /// Returns that of the calling process, by these variables.
  static JobIdentity ofThisProcess(const VariableLookup& variable);
  /// Looks into the environment of this process.
  static JobIdentity ofThisProcess();

  /// Returns "process 123 on node7 of step 0 of job 41 of Slurm, user 1000".
  std::string describe() const;

  /// Returns all fields, a line each.
  std::string encode() const;
  /// Reads what encode() returned. Missing lines are empty texts.
  static JobIdentity decode(const std::string& lines);
};

/// Returns whether both can be of one job. What only one of them knows does not tell.
///
/// The surest name decides: STEPTAPE_JOB, whoever the users are; then the user; then torchrun's
/// run, which may span several jobs of a scheduler; then the scheduler's job and its step.
STEPTAPE_EXPORT bool canBeOfOneJob(const JobIdentity& one, const JobIdentity& other);

/// Returns the scheduler's job for people: "Slurm job 52, element 3 of array 50, restart 1"; empty
/// if there is none.
STEPTAPE_EXPORT std::string schedulerJobText(const VariableLookup& variable);

/// Returns the scheduler's job as a part of a file name: "41", or "50_3" for the element of an
/// array; empty if there is none.
STEPTAPE_EXPORT std::string schedulerJobLabel(const VariableLookup& variable);
STEPTAPE_EXPORT std::string schedulerJobLabel();

/// Returns the scheduler's job that this process runs in, such as "41"; empty if there is none.
std::string schedulerJobNumber(const VariableLookup& variable);

}  // namespace steptape::detail::process
