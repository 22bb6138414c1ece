// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace steptape::detail::profile::perfetto {

// The messages of Perfetto's format that a Trace needs, by field number.
// @source protos/perfetto/trace of https://github.com/google/perfetto

inline constexpr std::uint32_t kTracePacket = 1;  // of Trace, the file

namespace packet {
inline constexpr std::uint32_t kClockSnapshot = 6;
inline constexpr std::uint32_t kTimestamp = 8;
inline constexpr std::uint32_t kSequenceId = 10;
inline constexpr std::uint32_t kTrackEvent = 11;
inline constexpr std::uint32_t kInternedData = 12;
inline constexpr std::uint32_t kSequenceFlags = 13;
inline constexpr std::uint32_t kDefaults = 59;
inline constexpr std::uint32_t kTrackDescriptor = 60;
inline constexpr std::uint32_t kIsFirstOfSequence = 87;

// Bits of kSequenceFlags.
inline constexpr std::uint64_t kStateCleared = 1;
inline constexpr std::uint64_t kNeedsState = 2;
}  // namespace packet

namespace defaults {
inline constexpr std::uint32_t kTrackEvent = 11;
inline constexpr std::uint32_t kTimestampClock = 58;
}  // namespace defaults

namespace clocks {
inline constexpr std::uint32_t kClock = 1;
inline constexpr std::uint32_t kPrimary = 2;
// Of a clock.
inline constexpr std::uint32_t kId = 1;
inline constexpr std::uint32_t kTimestamp = 2;
inline constexpr std::uint32_t kIsIncremental = 3;

inline constexpr std::uint64_t kRealTime = 1;  // Unix time
inline constexpr std::uint64_t kBootTime = 6;
inline constexpr std::uint64_t kSequence = 64;  // the first that a sequence may define
}  // namespace clocks

namespace track {
inline constexpr std::uint32_t kUuid = 1;
inline constexpr std::uint32_t kName = 2;
inline constexpr std::uint32_t kProcess = 3;
inline constexpr std::uint32_t kThread = 4;
inline constexpr std::uint32_t kParent = 5;
inline constexpr std::uint32_t kCounter = 8;
inline constexpr std::uint32_t kOrderRank = 12;
inline constexpr std::uint32_t kMergeBehavior = 15;
inline constexpr std::uint32_t kProcessOrdering = 19;
inline constexpr std::uint32_t kThreadOrdering = 20;
// Of a process.
inline constexpr std::uint32_t kPid = 1;
inline constexpr std::uint32_t kProcessName = 6;
inline constexpr std::uint32_t kProcessLabel = 8;
// Of a thread, which has kPid too.
inline constexpr std::uint32_t kTid = 2;
inline constexpr std::uint32_t kThreadName = 5;
// Of a counter.
inline constexpr std::uint32_t kUnit = 3;

inline constexpr std::uint64_t kNeverMerge = 2;
inline constexpr std::uint64_t kOrderByRank = 1;
inline constexpr std::uint64_t kBytes = 3;
}  // namespace track

namespace event {
inline constexpr std::uint32_t kCategoryIid = 3;
inline constexpr std::uint32_t kAnnotation = 4;
inline constexpr std::uint32_t kType = 9;
inline constexpr std::uint32_t kNameIid = 10;
inline constexpr std::uint32_t kTrack = 11;
inline constexpr std::uint32_t kCategory = 22;
inline constexpr std::uint32_t kName = 23;
inline constexpr std::uint32_t kCounterValue = 30;
inline constexpr std::uint32_t kDoubleCounterValue = 44;
inline constexpr std::uint32_t kFlow = 47;
inline constexpr std::uint32_t kLastOfFlow = 48;

// Of kType.
inline constexpr std::uint64_t kSliceBegin = 1;
inline constexpr std::uint64_t kSliceEnd = 2;
inline constexpr std::uint64_t kInstant = 3;
inline constexpr std::uint64_t kCounter = 4;
}  // namespace event

namespace annotation {
inline constexpr std::uint32_t kNameIid = 1;
inline constexpr std::uint32_t kBool = 2;
inline constexpr std::uint32_t kInteger = 4;
inline constexpr std::uint32_t kDouble = 5;
inline constexpr std::uint32_t kTextIid = 17;
}  // namespace annotation

namespace interned {
inline constexpr std::uint32_t kCategories = 1;
inline constexpr std::uint32_t kNames = 2;
inline constexpr std::uint32_t kAnnotationNames = 3;
inline constexpr std::uint32_t kTexts = 29;
// Of each of them.
inline constexpr std::uint32_t kIid = 1;
inline constexpr std::uint32_t kText = 2;
}  // namespace interned

}  // namespace steptape::detail::profile::perfetto
