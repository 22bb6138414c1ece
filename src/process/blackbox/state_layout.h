// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// The layout of the file `.state` of a black box. The process stores into a mapping of the file;
// readers copy it. All fields are plain words, which the process stores atomically.
//
// An entry whose first word is named `sequence` is under a sequence lock: the number is odd while
// the entry is being stored.
//
// @source docs/black_box_format.md, "State"

namespace steptape::detail::process::state_layout {

using Word = std::uint64_t;

inline constexpr std::uint32_t kVersion = 1;
/// The offset of the Table in the file: the first page after the BoxHeader.
inline constexpr std::size_t kTableOffset = 4096;

enum SectionId : std::uint32_t {
  kIdentity = 1,
  kProgress,
  kClock,
  kHeartbeat,
  kMemory,
  kError,
  kCounters,
  kGroups,
  kCollectives,
  kThreads,
  kValues,
  kDeaths,
  kNames,
  kModules,
};
inline constexpr std::size_t kSections = 14;

/// Tells where the entries of each section are, so that programs of different versions read each
/// other's files: a version adds sections, or fields at the end of an entry.
struct Table {
  struct Section {
    std::uint32_t id;
    std::uint32_t entryBytes;
    Word offset;  ///< In the file.
    Word entries;
  };
  std::uint32_t version;
  std::uint32_t sections;
  std::array<Section, 32> section;
};

template <std::size_t kBytes>
using Text = std::array<char, kBytes>;  ///< Ends at its first null byte, or after all bytes.

struct Identity {
  Word sequence;
  Word rank;       ///< As a signed number; -1: unknown.
  Word worldSize;  ///< As `rank`.
  Word localRank;  ///< As `rank`.
  Text<64> jobId;
  Text<512> command;
  std::array<Text<256>, 8> directories;  ///< Absolute.
  Word launch;  ///< The number of rank 0's box, the same on all ranks of a job; 0: unknown.
};

struct Progress {
  Word sequence;
  Word steps;  ///< How many steps were noted.
  Word step;   ///< The last one, as a signed number.
  Word phase;  ///< A RunPhase.
  Word phaseTicks;
  std::array<Word, 16> stepTicks;  ///< Of the last steps; the newest is at (steps - 1) % 16.
};

/// The wall time of `ticks` is `wall` + (`ticks` - `anchorTicks`) * `nanosPerTick` * 1e-9.
///
/// Two entries are stored in turn, so that one is complete whenever the process dies: the one with
/// the larger even sequence number counts.
struct Clock {
  Word sequence;
  Word anchorTicks;
  Word wall;          ///< The bits of a double: seconds since 1970.
  Word nanosPerTick;  ///< The bits of a double.
};

struct Heartbeat {
  Word sequence;
  Word ticks;
  Word passes;
  Word hasStep;
  Word step;  ///< The largest step of a scalar, as a signed number.
  Word stepTicks;
};

/// Signed numbers; -1: unknown.
struct Memory {
  Word sequence;
  Word ticks;
  Word residentBytes;
  Word cgroupBytes;
  Word cgroupLimit;
  Word oomKillsAtStart;
  Word oomKills;
};

struct Error {
  Word sequence;
  Word ticks;
  Text<1008> text;
};

/// Independent words.
struct Counters {
  Word names;        ///< Entries of kNames that are complete.
  Word collectives;  ///< How many collectives have started.
  Word threadsWithoutRoom;
  Word valuesWithoutRoom;
  Word deviceBytes;  ///< A signed number; -1: unknown.
};

/// An entry is unused while `id` is 0.
struct Group {
  Word sequence;
  Word id;
  Word rank;
  Word size;
  Word started;
  Word completed;
  Word lastStartTicks;
  Word lastEndTicks;
  Text<64> name;
};

/// A ring: collective number n, counted from 0, is at n % 64.
struct Collective {
  Word sequence;
  Word number;  ///< n + 1; 0: unused.
  Word group;   ///< Group::id.
  Word groupSequence;
  Word bytes;
  Word typeAndPhase;  ///< (DType + 1) << 8 | RankState::CollectivePhase; type 0: none.
  Word startTicks;
  Word sinceTicks;
  Word thread;
  Text<56> name;
};

/// An entry is unused while `tid` is 0.
struct Thread {
  struct Open {
    Word name;  ///< The number of a Name; 0: none.
    Word startTicks;
  };
  struct Completed {
    Word name;
    Word startTicks;
    Word endTicks;
  };
  Word sequence;
  Word tid;
  Word depth;  ///< May exceed the entries of `open`.
  Word operatorName;
  Text<16> name;
  std::array<Open, 24> open;
  std::array<Completed, 16> completed;  ///< A ring; `name` is 0 in unused entries.
  Word claimed;  ///< Not for readers: whether a thread owns the entry. Not under the lock.
};

/// An entry is unused while `tag` is empty.
struct Value {
  Word sequence;
  Word step;
  Word value;  ///< The bits of a float.
  Word wall;   ///< The bits of a double: seconds since 1970.
  Word flags;  ///< kHasFinite | kHasNonFinite
  Word finiteStep;
  Word finiteValue;
  Word firstNonFiniteStep;
  Text<160> tag;
  Text<288> directory;
};
inline constexpr Word kHasFinite = 1;
inline constexpr Word kHasNonFinite = 2;

/// The first entry is a signal that ends a process, the second one the last SIGTERM.
struct Death {
  Word sequence;
  Word signal;  ///< 0: none.
  Word code;    ///< As a signed number.
  Word address;
  Word stackPointer;
  Word senderPid;
  Word senderUid;
  Word tid;
  Word ticks;
  Word frameCount;  ///< Stored after the other words, outside of the sequence lock.
  std::array<Word, 64> frames;
  Text<16> senderName;  ///< As the operating system names the sender; may be empty.
};

/// Number n, counted from 1, is at n - 1. Never changes once Counters::names counts it.
struct Name {
  Text<64> text;
};

/// An entry is unused while `end` is 0.
struct Module {
  Word sequence;
  Word begin;
  Word end;
  Word offset;
  Text<224> path;
};

inline constexpr std::size_t kClocks = 2;
inline constexpr std::size_t kMaxGroups = 16;
inline constexpr std::size_t kMaxCollectives = 64;
inline constexpr std::size_t kMaxThreads = 64;
inline constexpr std::size_t kMaxValues = 128;
inline constexpr std::size_t kMaxNames = 2048;
inline constexpr std::size_t kMaxModules = 256;
inline constexpr std::size_t kDeathsKept = 2;

/// Everything after the BoxHeader, as this version lays it out.
struct alignas(4096) State {
  alignas(4096) Table table;
  alignas(64) Identity identity;
  alignas(64) Progress progress;
  alignas(64) std::array<Clock, kClocks> clocks;
  alignas(64) Heartbeat heartbeat;
  alignas(64) Memory memory;
  alignas(64) Counters counters;
  alignas(64) Error error;
  alignas(64) std::array<Death, kDeathsKept> deaths;
  alignas(64) std::array<Group, kMaxGroups> groups;
  alignas(64) std::array<Collective, kMaxCollectives> collectives;
  alignas(64) std::array<Thread, kMaxThreads> threads;
  alignas(64) std::array<Value, kMaxValues> values;
  alignas(64) std::array<Module, kMaxModules> modules;
  alignas(64) std::array<Name, kMaxNames> names;
};

static_assert(sizeof(Table) == 8 + 32 * 24);
static_assert(sizeof(Identity) == 32 + 64 + 512 + 8 * 256 + 8);
static_assert(sizeof(Collective) == 128);
static_assert(sizeof(Thread) == 824);
static_assert(sizeof(Value) == 512);
static_assert(sizeof(Module) == 256);

}  // namespace steptape::detail::process::state_layout
