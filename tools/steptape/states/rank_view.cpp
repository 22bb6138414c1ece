// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/states/rank_view.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

#include "steptape/base/clock.h"
#include "steptape/base/status.h"

#include "base/directory_entries.h"
#include "base/host_name.h"
#include "base/process_stat.h"
#include "base/text.h"
#include "tools/steptape/states/clock_offsets.h"

namespace steptape::tools {

std::string absolutePath(const std::string& path) {
  std::error_code error;
  std::filesystem::path whole = std::filesystem::weakly_canonical(path, error);
  std::string text = error ? path : whole.string();
  while (text.size() > 1 && text.back() == '/') {
    text.pop_back();
  }
  return text;
}

namespace {

using steptape::detail::base::endsWith;
using steptape::detail::process::BoxHeader;
using steptape::detail::process::BoxName;
using steptape::detail::process::RankState;
using steptape::detail::process::StateHead;

constexpr std::string_view kSuffix = ".state";

double now() {
  return Clock::system().wallSeconds();
}

Life lifeByProcess(const BoxHeader& header) {
  const auto stat = steptape::detail::base::readProcessStat(std::to_string(header.pid));
  if (!stat || stat->hasEnded()) {
    return Life::kDead;
  }
  return stat->isStopped() ? Life::kStopped : Life::kRuns;
}

/// Asks who holds the lock of a box, without taking it.
/// @return false if there is no box.
bool isLockedByItsProcess(const std::string& path, bool* isLocked) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) {
    return false;
  }
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool isKnown = ::fcntl(descriptor, F_GETLK, &lock) == 0;
  ::close(descriptor);
  // -1: a lock of an open file, which a program holds that recovers what a dead process has left.
  *isLocked = isKnown && lock.l_type != F_UNLCK && lock.l_pid != -1;
  return isKnown;
}

Life lifeOf(const RankState& state, const std::string& idPath) {
  const bool isKnownHere = isKnownToLive(state.process);
  bool isLocked = false;
  if (!idPath.empty() && isLockedByItsProcess(idPath, &isLocked)) {
    if (!isLocked && !isKnownHere) {
      return Life::kDead;
    }
    return isKnownHere ? lifeByProcess(state.process) : Life::kRuns;
  }
  if (isKnownHere) {
    return lifeByProcess(state.process);
  }
  const BoxHeader here = steptape::detail::process::headerOfThisProcess();
  const bool isOfThisContainer = here.pidNamespace != 0 &&
                                 here.pidNamespace == state.process.pidNamespace &&
                                 isOfThisBoot(state.process);
  return isOfThisContainer ? Life::kDead : Life::kUnknown;
}

/// Returns the memory of a process that may be on this machine; -1 if it is not.
std::int64_t residentBytesNow(const RankView& view) {
  const bool isHere = !view.isCopy && (view.life == Life::kRuns || view.life == Life::kStopped) &&
                      isKnownToLive(view.state.process);
  const auto stat =
      isHere ? steptape::detail::base::readProcessStat(std::to_string(view.state.process.pid))
             : std::nullopt;
  return stat ? stat->residentPages * ::sysconf(_SC_PAGESIZE) : -1;
}

void addView(RankState state, std::string path, const std::string& idPath, bool isCopy,
             std::vector<RankView>* views) {
  RankView view;
  view.life = lifeOf(state, idPath);
  view.isCopy = isCopy;
  view.path = std::move(path);
  view.seen = (view.life == Life::kRuns || view.life == Life::kStopped) && !isCopy
                  ? now()
                  : lastSignOf(state);
  view.state = std::move(state);
  if (view.state.heartbeat == 0) {
    // No background thread has measured it since the start of the process.
    view.state.residentBytes = residentBytesNow(view);
  }
  views->push_back(std::move(view));
}

bool isAtOrBelow(const std::string& path, const std::string& directory) {
  const std::string whole = absolutePath(path);
  return whole == directory || directory == "/" ||
         (steptape::detail::base::startsWith(whole, directory) && whole.size() > directory.size() &&
          whole[directory.size()] == '/');
}

/// Reads a file that is, or may be, a copy of a state.
void addFile(const std::string& path, std::vector<RankView>* views,
             std::vector<std::string>* problems) {
  RankState state;
  const Status status = steptape::detail::process::readRankStateFile(path, &state);
  if (!status.ok()) {
    const bool isNamed = status.message().find(path) != std::string::npos;
    problems->push_back(isNamed ? status.message() : path + ": " + status.message());
    return;
  }
  const std::string id = path.substr(0, path.size() - kSuffix.size()) + ".id";
  const bool hasId = endsWith(path, kSuffix) && ::access(id.c_str(), F_OK) == 0;
  addView(std::move(state), path, hasId ? id : "", !hasId, views);
}

/// Finds `*.state` in a directory and two levels below it: one folder for each node.
void addCopies(const std::string& directory, int levels, std::vector<RankView>* views,
               std::vector<std::string>* problems) {
  std::vector<steptape::detail::base::DirectoryEntry> entries;
  steptape::detail::base::listDirectory(directory, &entries);
  for (const auto& entry : entries) {
    const std::string path = directory + "/" + entry.name;
    if (!entry.isDirectory && endsWith(entry.name, kSuffix)) {
      addFile(path, views, problems);
    } else if (entry.isDirectory && !entry.isLink && levels > 0) {
      addCopies(path, levels - 1, views, problems);
    }
  }
}

bool isOfThisProcess(const BoxHeader& process) {
  const BoxHeader here = steptape::detail::process::headerOfThisProcess();
  return process.pid == here.pid && process.processStart == here.processStart &&
         process.pidNamespace == here.pidNamespace;
}

/// Reads the state of one of this user's processes on this machine, unless it is this one.
void addBox(const BoxName& box, std::vector<RankView>* views, std::vector<std::string>* problems) {
  RankState state;
  const std::string path = box.pathOf(steptape::detail::process::kStatePart);
  const Status status = steptape::detail::process::readRankState(box, &state);
  if (status.ok() && isOfThisProcess(state.process)) {
    return;  // `steptape run` logs its reports
  }
  if (status.ok()) {
    addView(std::move(state), path, box.pathOf("id"), false, views);
  } else if (::access(path.c_str(), F_OK) == 0) {
    problems->push_back(status.message());
  }
}

auto processKey(const RankView& view) {
  const BoxHeader& process = view.state.process;
  return std::make_tuple(BoxHeader::textOf(process.host), process.pid, process.box);
}

/// The boxes of this user's processes on this machine, of which few may be of interest: a whole
/// state has 1 MiB, a head a hundredth of that.
class BoxesHere {
 public:
  BoxesHere() {
    for (BoxName& box :
         steptape::detail::process::listBoxes(steptape::detail::process::boxFolder())) {
      StateHead head = readStateHead(box);
      boxes_.push_back({std::move(box), std::move(head), false});
    }
  }

  /// Selects the processes that log at or below a directory.
  /// @return whether there is one.
  bool select(const std::string& directory) {
    bool isAny = false;
    for (Box& box : boxes_) {
      const bool logsThere =
          std::any_of(box.head.logDirectories.begin(), box.head.logDirectories.end(),
                      [&](const std::string& log) { return isAtOrBelow(log, directory); });
      box.isSelected = box.isSelected || logsThere;
      isAny = isAny || logsThere;
    }
    return isAny;
  }

  void select(const std::vector<std::string>& jobs, const std::set<std::uint64_t>& launches) {
    for (Box& box : boxes_) {
      box.isSelected = box.isSelected || launches.count(box.head.launch) > 0 ||
                       std::find(jobs.begin(), jobs.end(), box.head.jobId) != jobs.end();
    }
  }

  /// Adds the selected processes, and those that were started together with one of them or of
  /// `views`. A process whose head tells nothing may be of the job too, so that its problem counts.
  void addTo(std::vector<RankView>* views, std::vector<std::string>* problems) const {
    std::set<std::uint64_t> launches;
    for (const RankView& view : *views) {
      launches.insert(view.state.launch);
    }
    for (const Box& box : boxes_) {
      launches.insert(box.isSelected ? box.head.launch : 0);
    }
    launches.erase(0);
    std::vector<RankView> others;
    for (const Box& box : boxes_) {
      const bool isOfJob = box.isSelected || launches.count(box.head.launch) > 0;
      if (isOfJob || (box.head.launch == 0 && box.head.logDirectories.empty())) {
        addBox(box.name, isOfJob ? views : &others, problems);
      }
    }
  }

 private:
  struct Box {
    BoxName name;
    StateHead head;
    bool isSelected;
  };
  std::vector<Box> boxes_;
};

std::string firstDirectory(const RankState& state) {
  return state.logDirectories.empty() ? "" : absolutePath(state.logDirectories.front());
}

std::string folderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(0, slash);
}

/// Returns whether no rank is in both. Ranks may log into directories of their own.
bool areDisjoint(const Job& a, const Job& b) {
  std::set<int> ranks;
  for (const RankView& view : a.ranks) {
    ranks.insert(view.state.rank);
  }
  return std::none_of(b.ranks.begin(), b.ranks.end(), [&](const RankView& view) {
    return view.state.rank < 0 || ranks.count(view.state.rank) > 0;
  });
}

bool isSameJob(const Job& job, const Job& other) {
  const std::uint64_t launch = job.ranks.front().state.launch;
  const std::uint64_t otherLaunch = other.ranks.front().state.launch;
  if (launch != 0 && otherLaunch != 0) {
    return launch == otherLaunch;
  }
  if (!job.id.empty() || !other.id.empty()) {
    return job.id == other.id &&
           (job.worldSize == other.worldSize || job.worldSize < 0 || other.worldSize < 0);
  }
  const std::string a = firstDirectory(job.ranks.front().state);
  const std::string b = firstDirectory(other.ranks.front().state);
  if (job.worldSize != other.worldSize) {
    return false;
  }
  if (a == b && job.worldSize < 0) {
    // Without a launcher, a process that began after the others had ended is a job of its own.
    return !a.empty() && other.ranks.front().state.process.created <= job.lastSign();
  }
  if (a == b) {
    return !a.empty() || (job.worldSize > 1 && areDisjoint(job, other));
  }
  // Without a launcher, each process is a job.
  return job.worldSize > 1 && !a.empty() && !b.empty() && folderOf(a) == folderOf(b) &&
         areDisjoint(job, other);
}

/// Keeps the newest state of each rank, and finds the ranks without one.
void complete(Job* job) {
  std::sort(job->ranks.begin(), job->ranks.end(), [](const RankView& a, const RankView& b) {
    return std::make_tuple(a.state.rank, -a.state.process.created, a.state.process.pid) <
           std::make_tuple(b.state.rank, -b.state.process.created, b.state.process.pid);
  });
  const std::size_t all = job->ranks.size();
  job->ranks.erase(std::unique(job->ranks.begin(), job->ranks.end(),
                               [](const RankView& a, const RankView& b) {
                                 return a.state.rank >= 0 && a.state.rank == b.state.rank;
                               }),
                   job->ranks.end());
  job->olderStates = all - job->ranks.size();
  constexpr int kMostMissing = 1 << 20;  // a damaged copy may hold any number
  std::set<int> known;
  for (const RankView& view : job->ranks) {
    known.insert(view.state.rank);
  }
  for (int rank = 0; rank < std::min(job->worldSize, kMostMissing); ++rank) {
    if (known.count(rank) == 0 && !known.empty() && *known.rbegin() >= 0) {
      job->missing.push_back(rank);
    }
  }
}

}  // namespace

double lastSignOf(const RankState& state) {
  double last =
      std::max({state.process.created, state.heartbeat, state.stepTime, state.phaseSince,
                state.memoryTime, state.lastErrorTime, state.death.time, state.termination.time});
  for (const RankState::Collective& collective : state.collectives) {
    last = std::max({last, collective.start, collective.since});
  }
  for (const RankState::Thread& thread : state.threads) {
    for (const RankState::OpenZone& zone : thread.zones) {
      last = std::max(last, zone.start);
    }
  }
  for (const RankState::CompletedZone& zone : state.completed) {
    last = std::max(last, zone.end);
  }
  for (const RankState::LastValue& value : state.values) {
    last = std::max(last, value.time);
  }
  return last;
}

double Job::lastSign() const {
  double last = 0;
  for (const RankView& view : ranks) {
    last = std::max(last, view.seen);
  }
  return last;
}

std::string nameOf(const RankView& rank) {
  return rank.state.rank >= 0 ? fmt::format("rank {}", rank.state.rank)
                              : fmt::format("process {}", rank.state.process.pid);
}

std::string hostOf(const RankView& rank) {
  return BoxHeader::textOf(rank.state.process.host);
}

void dropDoubles(std::vector<RankView>* views) {
  std::sort(views->begin(), views->end(), [](const RankView& a, const RankView& b) {
    return std::make_tuple(processKey(a), a.isCopy, -a.seen) <
           std::make_tuple(processKey(b), b.isCopy, -b.seen);
  });
  views->erase(std::unique(views->begin(), views->end(),
                           [](const RankView& a, const RankView& b) {
                             return processKey(a) == processKey(b);
                           }),
               views->end());
}

Status viewOfBytes(std::string_view bytes, Life life, double seen, std::string path,
                   RankView* view) {
  view->life = life;
  view->seen = seen;
  view->path = std::move(path);
  return steptape::detail::process::decodeRankState(bytes, &view->state);
}

std::vector<RankView> readViews(const ViewSelection& selection,
                                std::vector<std::string>* problems) {
  std::vector<RankView> views;
  if (selection.isAll()) {
    for (const BoxName& box :
         steptape::detail::process::listBoxes(steptape::detail::process::boxFolder())) {
      addBox(box, &views, problems);
    }
    return views;
  }
  BoxesHere here;
  here.select(selection.jobs, selection.launches);
  for (const std::string& directory : selection.directories) {
    here.select(directory);
  }
  for (const std::string& path : selection.paths) {
    struct stat status {};
    const bool exists = ::stat(path.c_str(), &status) == 0;
    if (exists && !S_ISDIR(status.st_mode)) {
      addFile(path, &views, problems);
      continue;
    }
    const bool isLogDirectory = here.select(absolutePath(path));
    if (exists) {
      addCopies(path, 2, &views, problems);
    } else if (!isLogDirectory) {
      throw Error(ErrorCode::kIoError,
                  fmt::format("got \"{}\"; expected a log directory, a file of a state, or a "
                              "directory of such files",
                              path));
    }
  }
  here.addTo(&views, problems);
  dropDoubles(&views);
  return views;
}

std::vector<Job> jobsOf(std::vector<RankView> views) {
  // Older processes first: a later one of the same rank then belongs to the same job.
  std::sort(views.begin(), views.end(), [](const RankView& a, const RankView& b) {
    return a.state.process.created < b.state.process.created;
  });
  std::vector<Job> jobs;
  for (RankView& view : views) {
    Job single;
    single.id = view.state.jobId;
    single.worldSize = view.state.worldSize;
    single.ranks.push_back(std::move(view));
    const auto job = std::find_if(jobs.begin(), jobs.end(),
                                  [&](const Job& other) { return isSameJob(other, single); });
    if (job == jobs.end()) {
      jobs.push_back(std::move(single));
    } else {
      job->worldSize = std::max(job->worldSize, single.worldSize);
      job->ranks.push_back(std::move(single.ranks.front()));
    }
  }
  for (Job& job : jobs) {
    complete(&job);
    estimateClockOffsets(&job.ranks);
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job& a, const Job& b) { return a.lastSign() > b.lastSign(); });
  return jobs;
}

}  // namespace steptape::tools
