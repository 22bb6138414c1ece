// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/hosts/host_answer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <set>
#include <string_view>
#include <utility>

#include "steptape/base/clock.h"
#include "steptape/base/status.h"
#include "steptape/base/version.h"
#include "steptape/wire/host_answer.pb.h"

#include "base/got_expected.h"
#include "base/text.h"
#include "tools/steptape/exit_code.h"

#include <zlib.h>

namespace steptape::tools {
namespace {

using RecoveredProcess = steptape::detail::log::RecoveryReport::Process;

/// The first line of an answer ends with the number of bytes before compression. What a login
/// script prints may precede it.
constexpr std::string_view kBegin = "steptape " STEPTAPE_VERSION " answers ";
/// A thousand states of a MiB: more than a machine has ranks.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

RecoveredProcess decodeProcess(const wire::RecoveredProcess& message) {
  RecoveredProcess process;
  process.pid = message.pid();
  process.program = message.program();
  process.host = message.host();
  process.directories.assign(message.directories().begin(), message.directories().end());
  process.values = message.values();
  process.files.assign(message.files().begin(), message.files().end());
  process.unreadableValues = message.unreadable_values();
  process.problems.assign(message.problems().begin(), message.problems().end());
  process.isKept = message.is_kept();
  return process;
}

void encodeProcess(const RecoveredProcess& process, wire::RecoveredProcess* message) {
  message->set_pid(process.pid);
  message->set_program(process.program);
  message->set_host(process.host);
  *message->mutable_directories() = {process.directories.begin(), process.directories.end()};
  message->set_values(process.values);
  *message->mutable_files() = {process.files.begin(), process.files.end()};
  message->set_unreadable_values(process.unreadableValues);
  *message->mutable_problems() = {process.problems.begin(), process.problems.end()};
  message->set_is_kept(process.isKept);
}

std::string encode(const HostAnswer& answer) {
  wire::HostAnswer message;
  message.set_host(answer.memory.host);
  message.set_now(answer.now);
  message.set_oom_kills(answer.memory.oomKills);
  message.set_cgroup_limit(answer.memory.cgroupLimit);
  for (const std::string& problem : answer.problems) {
    message.add_problems(problem);
  }
  for (const RecoveredProcess& process : answer.recovery.processes) {
    encodeProcess(process, message.add_recovered());
  }
  for (const RecoveredProcess& process : answer.recovery.living) {
    encodeProcess(process, message.add_living());
  }
  for (const RankView& view : answer.views) {
    std::string bytes;
    const Status status = steptape::detail::process::readRankStateBytes(view.path, &bytes);
    if (!status.ok()) {
      message.add_problems(status.message());  // the process has just ended
      continue;
    }
    wire::HostState* const state = message.add_states();
    state->set_path(view.path);
    state->set_life(static_cast<int>(view.life));
    state->set_seen(view.seen);
    state->set_content(std::move(bytes));
    state->set_resident_bytes(view.state.residentBytes);
  }
  return message.SerializeAsString();
}

std::string compressed(const std::string& bytes) {
  uLongf size = ::compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  ::compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
              reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()),
              Z_BEST_SPEED);
  packed.resize(size);
  return packed;
}

[[noreturn]] void throwNoAnswer(const std::string& got) {
  throw Error(ErrorCode::kDataLoss,
              detail::base::gotExpected(got, "an answer of steptape " STEPTAPE_VERSION));
}

/// Returns what compressed() was given.
std::string original(std::string_view packed, std::uint64_t bytes) {
  std::string text(bytes, '\0');
  uLongf size = text.size();
  if (::uncompress(reinterpret_cast<Bytef*>(text.data()), &size,
                   reinterpret_cast<const Bytef*>(packed.data()),
                   static_cast<uLong>(packed.size())) != Z_OK ||
      size != bytes) {
    throwNoAnswer("a damaged one");
  }
  return text;
}

/// Returns the directories of the query, and those in which the processes log.
std::vector<std::string> directoriesOf(const HostQuery& query, const std::vector<RankView>& views) {
  std::set<std::string> directories(query.directories.begin(), query.directories.end());
  for (const RankView& view : views) {
    directories.insert(view.state.logDirectories.begin(), view.state.logDirectories.end());
  }
  return {directories.begin(), directories.end()};
}

}  // namespace

steptape::detail::log::RecoveryReport recoverBelow(const std::vector<std::string>& directories,
                                                   bool discardsMissing) {
  steptape::detail::log::RecoveryOptions options;
  options.below = true;
  options.discardMissing = discardsMissing;
  steptape::detail::log::RecoveryReport report;
  for (const std::string& directory : directories) {
    options.directory = directory;
    report.add(recoverRuns(options));
  }
  return report;
}

HostAnswer answerHere(const HostQuery& query) {
  HostAnswer answer;
  answer.memory = surroundingsHere();
  answer.now = Clock::system().wallSeconds();
  ViewSelection selection;
  selection.jobs = query.jobs;
  selection.launches = query.launches;
  // A directory without a process here, or on a file system of another machine, selects nothing.
  selection.directories = query.directories;
  answer.views = readViews(selection, &answer.problems);
  if (query.recovers) {
    answer.recovery = recoverBelow(directoriesOf(query, answer.views), query.discardsMissing);
    answer.views.clear();
  }
  return answer;
}

int answerAskingHost(const std::vector<std::string>& words) {
  const std::string bytes = encode(answerHere(HostQuery::decode(words)));
  const std::string packed = compressed(bytes);
  fmt::print("{}{}\n", kBegin, bytes.size());
  std::fwrite(packed.data(), 1, packed.size(), stdout);
  return kExitFine;
}

HostAnswer decodeAnswer(const std::string& output) {
  const std::size_t begin = output.find(kBegin);
  const std::size_t line = output.find('\n', begin == std::string::npos ? 0 : begin);
  if (begin == std::string::npos || line == std::string::npos) {
    throwNoAnswer(output.empty() ? "nothing" : "another text");
  }
  const std::uint64_t bytes = std::strtoull(output.c_str() + begin + kBegin.size(), nullptr, 10);
  if (bytes > kMostBytes) {
    throwNoAnswer(fmt::format("{} bytes", bytes));
  }
  wire::HostAnswer message;
  if (!message.ParseFromString(original(std::string_view(output).substr(line + 1), bytes))) {
    throwNoAnswer("a damaged one");
  }
  HostAnswer answer;
  answer.now = message.now();
  answer.memory = {message.oom_kills(), message.cgroup_limit(), message.host()};
  answer.problems.assign(message.problems().begin(), message.problems().end());
  for (const wire::RecoveredProcess& process : message.recovered()) {
    answer.recovery.processes.push_back(decodeProcess(process));
  }
  for (const wire::RecoveredProcess& process : message.living()) {
    answer.recovery.living.push_back(decodeProcess(process));
  }
  for (const wire::HostState& state : message.states()) {
    RankView view;
    const auto life = static_cast<Life>(std::clamp(state.life(), 0, static_cast<int>(Life::kDead)));
    const Status status = viewOfBytes(state.content(), life, state.seen(), state.path(), &view);
    if (status.ok()) {
      view.state.residentBytes = state.resident_bytes();
      answer.views.push_back(std::move(view));
    } else {
      answer.problems.push_back(status.message());
    }
  }
  return answer;
}

}  // namespace steptape::tools
