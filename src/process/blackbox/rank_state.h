// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

#include "process/blackbox/box_folder.h"
#include "process/blackbox/box_header.h"

namespace steptape::detail::process {

/// What a rank was doing, as far as its trainer says.
enum class RunPhase : std::uint8_t {
  kUnknown,
  kSetup,
  kLoad,  ///< Waits for data.
  kForward,
  kBackward,
  kStep,  ///< The optimizer's step, and everything between backward and the next batch.
  kCheckpoint,
  kValidation,
};

/// Returns "setup", "load", "forward", "backward", "step", "checkpoint", "validation"; "" for
/// kUnknown.
STEPTAPE_EXPORT const char* runPhaseName(RunPhase phase) noexcept;

/// The part of a box that holds a RankState.
inline constexpr const char* kStatePart = "state";

/// The folder in a run directory for the states of its dead processes:
/// `<run>/black_box/<host>-<process number>.state`.
inline constexpr const char* kStateFolder = "black_box";

/// How RankState::lastError begins if an exception that nothing caught ended the process.
inline constexpr const char* kUncaughtException = "uncaught exception: ";
/// How it begins if Steptape ended the process, and the job with it.
inline constexpr const char* kEndedItself = "ends the job: ";
/// How it begins, before the code, if the process called exit() while its job ran.
inline constexpr const char* kLeftEarly = "exit code ";

/// The state of one process: what it is doing, or what it was doing when it died.
///
/// All times are seconds since 1970 by the clock of the process; 0: never. Texts are as the process
/// stored them: valid UTF-8 is not guaranteed. A group that was being stored when it was read, or
/// when the process died, is marked as uncertain: its fields may not belong together.
struct RankState {
  BoxHeader process;  ///< Host, program, process number, start, boot.

  // Who it is. Numbers are -1 and texts empty if unknown.
  int rank = -1;
  int worldSize = -1;
  int localRank = -1;
  std::string jobId;                        ///< Of the scheduler, such as "4711".
  std::uint64_t launch = 0;                 ///< The same on all ranks of one start of a job.
  std::string command;                      ///< The command line, cut off after some 500 bytes.
  std::vector<std::string> logDirectories;  ///< Of the writers so far, up to 8.
  bool isIdentityUncertain = false;

  // Progress.
  bool hasStep = false;
  std::int64_t step = 0;          ///< The last step that began or, without a trainer, was logged.
  double stepTime = 0;            ///< When that was.
  std::vector<double> stepTimes;  ///< When the last steps were, up to 16, oldest first.
  RunPhase phase = RunPhase::kUnknown;
  double phaseSince = 0;
  bool isProgressUncertain = false;

  // The background thread of the writers. 0 if there is no writer.
  double heartbeat = 0;      ///< When it last passed; normally less than 50 ms ago.
  std::uint64_t passes = 0;  ///< How often.

  /// A group of ranks that has communicated.
  struct Group {
    std::uint64_t id = 0;  ///< Equal on all its ranks.
    std::string name;      ///< Its ranks in the job if they are known: "ranks 0-3, 8".
    int rank = -1;         ///< The number of this process in the group.
    int size = 0;
    std::uint64_t started = 0;    ///< How many collectives this rank has started,
    std::uint64_t completed = 0;  ///< and how many of them have ended.
    double lastStart = 0;
    double lastEnd = 0;
    bool isUncertain = false;
  };
  std::vector<Group> groups;

  enum class CollectivePhase : std::uint8_t {
    kStarted,   ///< In flight; it is not known whether all ranks have arrived.
    kWaiting,   ///< Waits until all ranks have arrived.
    kTransfer,  ///< All ranks have arrived.
    kCompleted,
    kFailed,
  };
  struct Collective {
    std::string name;            ///< "allreduce(sum) 'gradients'".
    std::uint64_t group = 0;     ///< Group::id.
    std::uint64_t sequence = 0;  ///< Counts the collectives of the group, from 1.
    std::int64_t bytes = 0;      ///< What this rank contributes or gets, whichever is more.
    std::string type;            ///< Of the elements, such as "float32"; empty: bytes or none.
    CollectivePhase phase = CollectivePhase::kStarted;
    double start = 0;
    double since = 0;          ///< When it entered this phase.
    std::uint32_t thread = 0;  ///< The thread that started it.
    bool isUncertain = false;
  };
  std::vector<Collective> collectives;  ///< The last ones, up to 64, in the order of their start.

  struct OpenZone {
    std::string name;
    double start = 0;
  };
  struct Thread {
    std::uint32_t tid = 0;
    std::string name;             ///< As the operating system names it.
    std::vector<OpenZone> zones;  ///< Open zones, outermost first; at most 24 of them.
    std::uint32_t depth = 0;      ///< Number of open zones: may be more than `zones` holds.
    std::string operatorName;     ///< Innermost operator, while a profiler records; may be "".
    bool isUncertain = false;
  };
  std::vector<Thread> threads;  ///< Living threads that had a zone or a collective.
  std::uint64_t threadsWithoutRoom = 0;

  struct CompletedZone {
    std::string name;
    std::uint32_t thread = 0;
    double start = 0;
    double end = 0;
  };
  std::vector<CompletedZone> completed;  ///< The last 16 of each living thread, by their end.

  struct LastValue {
    std::string tag;
    std::string directory;  ///< The log directory of its writer.
    std::int64_t step = 0;
    float value = 0;  ///< The most recent value, also if it is not finite.
    double time = 0;
    bool hasFinite = false;
    std::int64_t finiteStep = 0;  ///< The last finite value,
    float finiteValue = 0;
    bool hasNonFinite = false;
    std::int64_t firstNonFiniteStep = 0;  ///< and the first one that was NaN or infinite.
    bool isUncertain = false;
  };
  std::vector<LastValue> values;  ///< Of the first 128 tags that got a scalar.
  std::uint64_t valuesWithoutRoom = 0;

  // Memory in bytes, measured once a second by the background thread; -1 if unknown.
  std::int64_t residentBytes = -1;
  std::int64_t cgroupBytes = -1;
  std::int64_t cgroupLimit = -1;      ///< -1 also if there is no limit.
  std::int64_t deviceBytes = -1;      ///< While a profiler records memory.
  std::int64_t oomKillsAtStart = -1;  ///< Processes of the cgroup that the kernel has killed,
  std::int64_t oomKills = -1;         ///< and how many as last seen.
  double memoryTime = 0;              ///< When these were measured.

  std::string lastError;  ///< The last error that Steptape reported, cut off.
  double lastErrorTime = 0;
  bool isErrorUncertain = false;

  /// A signal that the process got. If a heartbeat is later, the process has survived it.
  struct Death {
    int signal = 0;                  ///< 0: none.
    int code = 0;                    ///< `si_code`.
    std::uint64_t address = 0;       ///< `si_addr`, for a fault.
    std::uint64_t stackPointer = 0;  ///< Close to `address` if the stack has overflowed.
    std::uint32_t senderPid = 0;     ///< 0: not sent by a process.
    std::uint32_t senderUid = 0;
    std::string senderName;  ///< Of its program, cut off after 15 bytes; empty if it had ended.
    std::uint32_t tid = 0;
    double time = 0;
    /// The stack, innermost frame first; may be empty. The first one is the address of the
    /// instruction at which the signal arrived, the others are return addresses.
    std::vector<std::uint64_t> frames;
    bool isUncertain = false;
  };
  Death death;        ///< A signal that ends a process: SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT.
  Death termination;  ///< The last SIGTERM, which need not end it.

  /// A part of a file with code, so that addresses mean something after the process has ended.
  struct Module {
    std::uint64_t begin = 0;  ///< Addresses in the process.
    std::uint64_t end = 0;
    std::uint64_t offset = 0;  ///< Of `begin` in the file.
    std::string path;
  };
  std::vector<Module> modules;  ///< In the order of their addresses; empty before a handler exists.
};

/// Reads the state of a process: one that runs, is stopped, or has ended.
///
/// The process is not disturbed, and need not cooperate. The file is not trusted: it may be of
/// another version, damaged, or cut off while it is read. The call ends after a bounded number of
/// reads.
///
/// @return kIoError if there is no such file; kDataLoss with what was got and expected if it holds
///         no state.
/// @throws std::bad_alloc
STEPTAPE_EXPORT Status readRankState(const BoxName& box, RankState* state);

/// Like readRankState(), for a file at any path: a copy in a log directory, for example.
STEPTAPE_EXPORT Status readRankStateFile(const std::string& path, RankState* state);

/// Reads the bytes that decodeRankState() takes, such that what changed meanwhile is marked as
/// uncertain in them.
STEPTAPE_EXPORT Status readRankStateBytes(const std::string& path, std::string* bytes);

/// The part of a state that tells which job it belongs to; see RankState.
struct StateHead {
  std::uint64_t launch = 0;
  std::string jobId;
  std::vector<std::string> logDirectories;
};

/// Reads the head of the state of a process, without the rest; it is empty if it cannot be read.
///
/// @cost One read of 16 KiB.
STEPTAPE_EXPORT StateHead readStateHead(const BoxName& box);

/// Decodes the bytes of a whole file, which may be anything. Does not read `/proc`.
STEPTAPE_EXPORT Status decodeRankState(std::string_view bytes, RankState* state);

/// Copies the state of a process, such that what changed during the copy is marked as uncertain in
/// the copy. Replaces the file at `path`; at every moment, it has its old or its new content.
/// REQUIRES: no other process copies a state to `path` meanwhile
STEPTAPE_EXPORT Status copyRankState(const BoxName& box, const std::string& path);

}  // namespace steptape::detail::process
