// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/hosts/job_views.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "steptape/base/clock.h"
#include "steptape/base/status.h"

#include "tools/steptape/exit_code.h"
#include "tools/steptape/hosts/host_answer.h"
#include "tools/steptape/hosts/host_check.h"
#include "tools/steptape/hosts/host_list.h"
#include "tools/steptape/hosts/slurm_job.h"
#include "tools/steptape/programs/parallel_programs.h"
#include "tools/steptape/programs/words.h"

namespace steptape::tools {
namespace {

constexpr std::chrono::seconds kPatienceWithHosts{20};

/// Returns the path of this program, which the nodes of a cluster share, mostly; else its name.
std::string thisProgram() {
  std::error_code unknown;
  const std::string path = std::filesystem::read_symlink("/proc/self/exe", unknown).string();
  const bool isPlain = path.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                           "0123456789/._-") == std::string::npos;
  return unknown || !isPlain ? "steptape" : path;
}

bool isDirectoryOrGone(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) != 0 || S_ISDIR(status.st_mode);
}

/// Returns what a machine answers, in the order of `hosts`.
std::vector<ProgramEnd> askHosts(const HostsToAsk& group, const std::vector<std::string>& hosts,
                                 const HostQuery& query) {
  std::vector<std::vector<std::string>> commands;
  for (const std::string& host : hosts) {
    std::vector<std::string> command = group.shell;
    command.insert(command.end(), {host, thisProgram(), kAnswerCommand});
    for (std::string& word : query.encode()) {
      command.push_back(std::move(word));
    }
    commands.push_back(std::move(command));
  }
  return runAll(commands, kPatienceWithHosts);
}

std::string noAnswerOf(const std::string& host, const std::string& why) {
  return fmt::format("{} was not asked: {}", host, why);
}

std::string whyOf(const ProgramEnd& end) {
  return end.problem.empty() ? fmt::format("exit code {}", end.exitCode) : end.problem;
}

}  // namespace

std::vector<std::string> remoteShellOf(const std::string& option) {
  const char* const variable = std::getenv("STEPTAPE_RSH");
  std::vector<std::string> words = wordsOf(!option.empty()       ? option
                                           : variable != nullptr ? std::string(variable)
                                                                 : kRemoteShell);
  return words.empty() ? wordsOf(kRemoteShell) : words;
}

JobSource::JobSource(const JobSelection& selection) : paths_(selection.paths) {
  for (const std::string& path : selection.paths) {
    if (isDirectoryOrGone(path)) {
      query_.directories.push_back(absolutePath(path));
    }
  }
  if (!selection.job.empty()) {
    query_.jobs.push_back(selection.job);
    std::string problem;
    for (const SlurmJob& job : findSlurmJobs(selection.job, &problem)) {
      query_.jobs.push_back(job.id);
      groups_.push_back({job.hosts, slurmShell(job.id)});
      if (job.hosts.empty()) {
        problems_.push_back(
            fmt::format("job {} has no node: {}, {}", job.id, job.state, job.reason));
      }
    }
    if (!problem.empty() && selection.hosts.empty()) {
      problems_.push_back(problem + ": only this machine was asked; --hosts names others");
    }
  }
  if (!selection.hosts.empty()) {
    HostsToAsk named{{}, remoteShellOf(selection.remoteShell)};
    for (const Host& host : hostsOf(selection.hosts, 1)) {
      named.names.push_back(host.name);
    }
    groups_ = {std::move(named)};
  } else if (selection.job.empty() && !query_.directories.empty()) {
    HostsToAsk ours{hostsOfAllocation(), {}};
    if (!ours.names.empty()) {
      ours.shell = slurmShell(std::getenv("SLURM_JOB_ID"));
      groups_.push_back(std::move(ours));
    }
  }
}

std::vector<std::string> JobSource::othersOf(const HostsToAsk& group) {
  std::vector<std::string> others;
  std::copy_if(group.names.begin(), group.names.end(), std::back_inserter(others),
               [](const std::string& host) { return !isThisMachine(host); });
  return others;
}

bool JobSource::asksOthers() const {
  return std::any_of(groups_.begin(), groups_.end(),
                     [](const HostsToAsk& group) { return !othersOf(group).empty(); });
}

JobViews JobSource::read() const {
  JobViews all;
  all.problems = problems_;
  all.machines.push_back(surroundingsHere());
  ViewSelection here;
  for (const std::string& path : paths_) {
    // A login node need not have the file system of the nodes.
    const bool isElsewhere = asksOthers() && ::access(path.c_str(), F_OK) != 0;
    (isElsewhere ? here.directories : here.paths)
        .push_back(isElsewhere ? absolutePath(path) : path);
  }
  here.jobs = query_.jobs;
  all.views = readViews(here, &all.problems);
  HostQuery query = query_;
  for (const RankView& view : all.views) {
    query.launches.insert(view.state.launch);
  }
  query.launches.erase(0);
  for (HostAnswer& answer : ask(query, &all.problems)) {
    all.machines.push_back(std::move(answer.memory));
    std::move(answer.views.begin(), answer.views.end(), std::back_inserter(all.views));
  }
  dropDoubles(&all.views);
  return all;
}

steptape::detail::log::RecoveryReport JobSource::recover(bool discardsMissing,
                                                         std::vector<std::string>* problems) const {
  problems->insert(problems->end(), problems_.begin(), problems_.end());
  HostQuery query = query_;
  query.recovers = true;
  query.discardsMissing = discardsMissing;
  std::vector<HostAnswer> answers;
  if (isOfScheduler()) {
    answers.push_back(answerHere(query));
  }
  for (HostAnswer& answer : ask(query, problems)) {
    answers.push_back(std::move(answer));
  }
  steptape::detail::log::RecoveryReport report;
  for (HostAnswer& answer : answers) {
    report.add(std::move(answer.recovery));
  }
  return report;
}

std::vector<HostAnswer> JobSource::ask(const HostQuery& query,
                                       std::vector<std::string>* problems) const {
  std::vector<HostAnswer> answers;
  for (const HostsToAsk& group : groups_) {
    const std::vector<std::string> hosts = othersOf(group);
    const std::vector<ProgramEnd> ends = askHosts(group, hosts, query);
    const double now = Clock::system().wallSeconds();
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      if (ends[i].exitCode != kExitFine) {
        problems->push_back(noAnswerOf(hosts[i], whyOf(ends[i])));
        continue;
      }
      try {
        HostAnswer answer = decodeAnswer(ends[i].output);
        for (RankView& view : answer.views) {
          view.clockAhead = answer.now - now;
        }
        for (const std::string& problem : answer.problems) {
          problems->push_back(hosts[i] + ": " + problem);
        }
        answers.push_back(std::move(answer));
      } catch (const Error& error) {
        problems->push_back(noAnswerOf(hosts[i], error.what()));
      }
    }
  }
  return answers;
}

}  // namespace steptape::tools
