// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/perfetto/perfetto_memory.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "events/messages/wire_format.h"
#include "profile/trace/perfetto/perfetto_arguments.h"
#include "profile/trace/perfetto/perfetto_format.h"
#include "profile/trace/perfetto/perfetto_names.h"
#include "profile/trace/perfetto/perfetto_tracks.h"

namespace steptape::detail::profile {
namespace {

namespace event = perfetto::event;
namespace interned = perfetto::interned;

/// Writes the memory events of one process.
class MemoryWriter {
 public:
  MemoryWriter(std::uint64_t processTrack, const std::vector<std::uint64_t>& threadTracks,
               std::int64_t originNanos, PerfettoFileState* file, TraceText* text)
      : processTrack_(processTrack),
        threadTracks_(threadTracks),
        origin_(originNanos),
        file_(file),
        sequence_(processTrack, {}, file, text) {}

  void write(const TraceMemoryEvent& memory) {
    writeInstant(memory);
    Counters& counters = counters_[{memory.deviceType, memory.deviceIndex}];
    writeCounter(memory, " allocated", memory.totalAllocated, &counters.allocated);
    if (memory.totalReserved != 0) {
      writeCounter(memory, " reserved", memory.totalReserved, &counters.reserved);
    }
  }

 private:
  /// Their tracks; 0: there is none yet.
  struct Counters {
    std::uint64_t allocated = 0, reserved = 0;
  };
  /// Thread, and type and index of the device.
  using InstantKey = std::tuple<std::size_t, int, int>;

  void writeInstant(const TraceMemoryEvent& memory) {
    std::string& fields = instants_[{memory.thread, memory.deviceType, memory.deviceIndex}];
    if (fields.empty()) {
      fields = instantFields(memory);
    }
    std::string last;
    PerfettoArguments arguments(&last, sequence_.names());
    arguments.addInteger("Addr", static_cast<std::int64_t>(memory.address));
    arguments.addInteger("Bytes", memory.bytes);
    sequence_.writeNewNames();
    sequence_.appendEvent(fields, origin_ + memory.time, last);
  }

  /// All but the address and the bytes.
  std::string instantFields(const TraceMemoryEvent& memory) {
    std::string fields;
    events::appendVarintField(&fields, event::kType, event::kInstant);
    PerfettoNames* const names = sequence_.names();
    events::appendVarintField(&fields, event::kCategoryIid,
                              names->numberOf(interned::kCategories, "cpu_instant_event"));
    events::appendVarintField(&fields, event::kNameIid,
                              names->numberOf(interned::kNames, "[memory]"));
    events::appendVarintField(&fields, event::kTrack, threadTracks_[memory.thread]);
    PerfettoArguments arguments(&fields, names);
    arguments.addInteger("Device Type", memory.deviceType);
    arguments.addInteger("Device Id", memory.deviceIndex);
    return fields;
  }

  void writeCounter(const TraceMemoryEvent& memory, const char* what, std::int64_t value,
                    std::uint64_t* track) {
    if (*track == 0) {
      *track = ++file_->lastTrack;
      const std::string name =
          "memory of " + deviceName(memory.deviceType, memory.deviceIndex) + what;
      appendTrackPacket(counterDescriptor(*track, processTrack_, name, perfetto::track::kBytes),
                        sequence_.text());
    }
    std::string fields;
    events::appendVarintField(&fields, event::kType, event::kCounter);
    events::appendVarintField(&fields, event::kTrack, *track);
    events::appendVarintField(&fields, event::kCounterValue, static_cast<std::uint64_t>(value));
    sequence_.appendEvent(fields, origin_ + memory.time);
  }

  const std::uint64_t processTrack_;
  const std::vector<std::uint64_t>& threadTracks_;
  const std::int64_t origin_;
  PerfettoFileState* const file_;
  PerfettoSequence sequence_;
  std::map<InstantKey, std::string> instants_;        // see instantFields()
  std::map<std::pair<int, int>, Counters> counters_;  // by type and index of the device
};

}  // namespace

void writePerfettoMemory(const Trace& trace, std::uint64_t processTrack,
                         const std::vector<std::uint64_t>& threadTracks, PerfettoFileState* file,
                         TraceText* text) {
  if (trace.memory.empty()) {
    return;
  }
  MemoryWriter writer(processTrack, threadTracks, trace.originNanos, file, text);
  for (const TraceMemoryEvent& memory : trace.memory) {
    writer.write(memory);
  }
}

}  // namespace steptape::detail::profile
