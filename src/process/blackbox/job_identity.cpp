// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/job_identity.h"

#include <algorithm>
#include <sstream>
#include <unistd.h>

#include "base/host_name.h"

namespace steptape::detail::process {
namespace {

struct Scheduler {
  const char* variable;
  const char* name;
};

/// @source sbatch(1) of Slurm, qsub(1) of OpenPBS, LSF's environment variables, flux-environment(7)
constexpr Scheduler kSchedulers[] = {{"SLURM_JOB_ID", "Slurm"},
                                     {"PBS_JOBID", "PBS"},
                                     {"LSB_JOBID", "LSF"},
                                     {"FLUX_JOB_ID", "Flux"},
                                     {"COBALT_JOBID", "Cobalt"}};

/// The fields in the order of encode().
constexpr std::string JobIdentity::*kFields[] = {&JobIdentity::name, &JobIdentity::run,
                                                 &JobIdentity::job,  &JobIdentity::step,
                                                 &JobIdentity::user, &JobIdentity::process};

std::string textOf(const VariableLookup& variable, const char* name) {
  const char* const text = variable(name);
  std::string line = text == nullptr ? "" : text;
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

/// Returns the scheduler whose job this process runs in, or null.
const Scheduler* schedulerOf(const VariableLookup& variable) {
  for (const Scheduler& each : kSchedulers) {
    if (!textOf(variable, each.variable).empty()) {
      return &each;
    }
  }
  return nullptr;
}

bool areKnown(const std::string& one, const std::string& other) {
  return !one.empty() && !other.empty();
}

}  // namespace

JobIdentity JobIdentity::ofThisProcess(const VariableLookup& variable) {
  JobIdentity identity;
  identity.name = textOf(variable, "STEPTAPE_JOB");
  identity.run = textOf(variable, "TORCHELASTIC_RUN_ID");
  if (identity.run == "none") {
    identity.run.clear();
  }
  // The parts of a heterogeneous job have numbers of their own.
  const bool isHeterogeneous = !textOf(variable, "SLURM_HET_SIZE").empty();
  if (const Scheduler* const scheduler = schedulerOf(variable); scheduler && !isHeterogeneous) {
    identity.job = "job " + textOf(variable, scheduler->variable) + " of " + scheduler->name;
  }
  if (!identity.job.empty()) {
    identity.step = textOf(variable, "SLURM_STEP_ID");
  }
  identity.user = std::to_string(::getuid());
  identity.process = "process " + std::to_string(::getpid()) + " on " + base::hostName();
  return identity;
}

JobIdentity JobIdentity::ofThisProcess() {
  return ofThisProcess(variableOfProcess);
}

std::string JobIdentity::describe() const {
  std::string text = process;
  if (!name.empty()) {
    text += " of STEPTAPE_JOB=" + name;
  } else if (!run.empty()) {
    text += " of torchrun's run " + run;
  } else if (!job.empty()) {
    text += " of " + (step.empty() ? "" : "step " + step + " of ") + job;
  }
  return text + (user.empty() ? "" : ", user " + user);
}

std::string JobIdentity::encode() const {
  std::string lines;
  for (std::string JobIdentity::*const field : kFields) {
    lines += this->*field + "\n";
  }
  return lines;
}

JobIdentity JobIdentity::decode(const std::string& lines) {
  JobIdentity identity;
  std::istringstream in(lines);
  for (std::string JobIdentity::*const field : kFields) {
    std::getline(in, identity.*field);
  }
  return identity;
}

bool canBeOfOneJob(const JobIdentity& one, const JobIdentity& other) {
  if (areKnown(one.name, other.name)) {
    return one.name == other.name;
  }
  if (areKnown(one.user, other.user) && one.user != other.user) {
    return false;
  }
  if (areKnown(one.run, other.run)) {
    return one.run == other.run;
  }
  if (areKnown(one.job, other.job) && one.job != other.job) {
    return false;
  }
  return !areKnown(one.step, other.step) || one.step == other.step;
}

std::string schedulerJobNumber(const VariableLookup& variable) {
  const Scheduler* const scheduler = schedulerOf(variable);
  return textOf(variable, scheduler ? scheduler->variable : "JOB_ID");  // of Grid Engine
}

std::string schedulerJobText(const VariableLookup& variable) {
  const Scheduler* const scheduler = schedulerOf(variable);
  if (scheduler == nullptr) {
    return "";
  }
  std::string text = scheduler->name + std::string(" job ") + textOf(variable, scheduler->variable);
  const std::string array = textOf(variable, "SLURM_ARRAY_JOB_ID");
  if (!array.empty()) {
    text += ", element " + textOf(variable, "SLURM_ARRAY_TASK_ID") + " of array " + array;
  }
  // Slurm does not set it at the first start.
  const std::string restarts = textOf(variable, "SLURM_RESTART_COUNT");
  return restarts.empty() ? text : text + ", restart " + restarts;
}

std::string schedulerJobLabel(const VariableLookup& variable) {
  std::string label;
  const std::string array = textOf(variable, "SLURM_ARRAY_JOB_ID");
  if (!array.empty()) {
    label = array + "_" + textOf(variable, "SLURM_ARRAY_TASK_ID");
  } else if (const Scheduler* const scheduler = schedulerOf(variable)) {
    label = textOf(variable, scheduler->variable);
    // LSF gives all elements one number.
    const std::string element = textOf(variable, "LSB_JOBINDEX");
    if (!element.empty() && element != "0") {
      label += "_" + element;
    }
  }
  for (char& c : label) {
    const bool isPlain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                         (c >= 'A' && c <= 'Z') || c == '-' || c == '.';
    c = isPlain ? c : '_';
  }
  return label;
}

std::string schedulerJobLabel() {
  return schedulerJobLabel(variableOfProcess);
}

}  // namespace steptape::detail::process
