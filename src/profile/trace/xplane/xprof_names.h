// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace steptape::detail::profile {

// Names and numbers by which XProf recognizes parts of a profile. If its sources do not define
// their interpretation, it was found by experiment with XProf 2.24.2.
// @source tsl/profiler/utils/xplane_schema.cc, xprof/utils/derived_timeline.h of OpenXLA

inline constexpr char kHostPlane[] = "/host:CPU";
inline constexpr char kDevicePlanePrefix[] = "/device:GPU:";
inline constexpr char kEnvironmentPlane[] = "Task Environment";

/// Prefix of spans that are not operators; XProf regards names with "::" as other spans.
inline constexpr char kZonePrefix[] = "zone::";
inline constexpr char kIteratorPrefix[] = "Iterator::";
inline constexpr char kAllocation[] = "MemoryAllocation";
inline constexpr char kDeallocation[] = "MemoryDeallocation";
/// An event that XProf never shows.
inline constexpr char kHiddenEvent[] = "PrefetchConsume";
inline constexpr char kCountersLine[] = "_counters_";
inline constexpr char kStepsLine[] = "Steps";

/// Duration of an event that only marks a time of its step. After an event of 0 ps, XProf counts
/// the rest of the step as computation.
inline constexpr std::int64_t kShortestPicos = 1;

/// Lines with numbers in this range are XProf's own: their events are evaluated, but not counted as
/// calls of operators.
inline constexpr std::int64_t kFirstDerivedLineId = -559038737;
inline constexpr std::int64_t kLastDerivedLineId = -559038447;
inline constexpr std::int64_t kDeviceStepsLineId = kFirstDerivedLineId;
inline constexpr std::int64_t kMemoryLineId = -559038637;
inline constexpr std::int64_t kStepMarksLineId = -559038636;

/// Larger numbers in kCorrelationStat are our own: they belong to work without a correlation.
inline constexpr std::int64_t kMaxCorrelation = 0xffffffff;

inline constexpr char kGroupStat[] = "group_id";
inline constexpr char kStepNameStat[] = "step_name";
inline constexpr char kStepNumberStat[] = "step_num";
inline constexpr char kOperatorStat[] = "tf_op";
inline constexpr char kInputStageStat[] = "_ipl_stage_name";
inline constexpr char kFlowStat[] = "flow";
inline constexpr char kCorrelationStat[] = "correlation_id";
inline constexpr char kKernelStat[] = "kernel_details";
inline constexpr char kProfileStartStat[] = "profile_start_time";
inline constexpr char kProfileStopStat[] = "profile_stop_time";

// Stats of memory events.
inline constexpr char kAllocatorStat[] = "allocator_name";
inline constexpr char kAllocatedStat[] = "bytes_allocated";
inline constexpr char kAvailableStat[] = "bytes_available";
inline constexpr char kPeakStat[] = "peak_bytes_in_use";
inline constexpr char kAllocationStat[] = "allocation_bytes";
inline constexpr char kRequestedStat[] = "requested_bytes";
inline constexpr char kAddressStat[] = "addr";

// Stats without a meaning in XProf, which shows them as arguments of the event.
inline constexpr char kKindStat[] = "kind";
inline constexpr char kCategoryStat[] = "category";
inline constexpr char kColorStat[] = "color";
inline constexpr char kThreadStat[] = "thread";
inline constexpr char kDetachedFromStat[] = "detached from thread";
inline constexpr char kOverlapStat[] = "overlaps on its thread";  ///< With kDetachedFromStat.
/// With kDetachedFromStat: how many spans of the same times are around this one on its thread.
inline constexpr char kTwinsAroundStat[] = "equal spans around it";
inline constexpr char kValueStat[] = "value";
inline constexpr char kSequenceStat[] = "Sequence number";
inline constexpr char kForwardThreadStat[] = "Fwd thread id";
inline constexpr char kShapesStat[] = "Input Dims";
inline constexpr char kTypesStat[] = "Input type";
inline constexpr char kModuleStat[] = "Module";
inline constexpr char kFlopsStat[] = "FLOPs";
inline constexpr char kBytesStat[] = "Bytes";
inline constexpr char kArgumentsStat[] = "Arguments";
inline constexpr char kDeviceTypeStat[] = "Device Type";
inline constexpr char kDeviceIdStat[] = "Device Id";

// Stats of the environment's plane that only this library reads. All have the same prefix.
inline constexpr char kOwnStatPrefix[] = "steptape.";
inline constexpr char kWindowStartStat[] = "steptape.window_start";
inline constexpr char kRankStat[] = "steptape.rank";
inline constexpr char kWorldSizeStat[] = "steptape.world_size";
inline constexpr char kProcessIdStat[] = "steptape.process_id";
inline constexpr char kProcessNameStat[] = "steptape.process_name";
inline constexpr char kDroppedStat[] = "steptape.dropped_spans";

/// Returns a name that XProf lists as an operator, in the form "name:Type": "aten.addmm:addmm" for
/// "aten::addmm".
///
/// XProf counts only names of this form, and regards names that start with "train" or "test" as
/// steps.
std::string xprofOperatorName(std::string_view text);

}  // namespace steptape::detail::profile
