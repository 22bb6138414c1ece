// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/perfetto/perfetto_memory.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "events/messages/wire_format.h"
#include "profile/trace/perfetto/perfetto_arguments.h"
#include "profile/trace/perfetto/perfetto_event_form.h"
#include "profile/trace/perfetto/perfetto_format.h"
#include "profile/trace/perfetto/perfetto_names.h"
#include "profile/trace/perfetto/perfetto_tracks.h"

namespace steptape::detail::profile {
namespace {

namespace event = perfetto::event;
namespace interned = perfetto::interned;

/// Type, track and begin of the value.
std::string counterFields(std::uint64_t track) {
  std::string fields;
  events::appendVarintField(&fields, event::kType, event::kCounter);
  events::appendVarintField(&fields, event::kTrack, track);
  events::appendFieldKey(&fields, event::kCounterValue, events::WireType::kVarint);
  return fields;
}

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
  struct Counters {
    std::optional<PerfettoEventForm> allocated, reserved;
  };
  /// Thread, type and index of the device, and bytes of the address.
  using InstantKey = std::tuple<std::size_t, int, int, std::size_t>;

  void writeInstant(const TraceMemoryEvent& memory) {
    const VarintBytes address(memory.address);
    const InstantKey key{memory.thread, memory.deviceType, memory.deviceIndex, address.size()};
    auto form = instants_.find(key);
    if (form == instants_.end()) {
      form = instants_.try_emplace(key, instantFields(memory, address.size()), &sequence_).first;
    }
    const VarintBytes bytes(static_cast<std::uint64_t>(memory.bytes));
    std::string last(address.view());
    PerfettoArguments(&last, sequence_.names()).beginInteger("Bytes", bytes.size());
    last += bytes.view();
    sequence_.writeNewNames();
    form->second.append(last, origin_ + memory.time);
  }

  /// All but the address and the bytes.
  std::string instantFields(const TraceMemoryEvent& memory, std::size_t addressBytes) {
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
    arguments.beginInteger("Addr", addressBytes);
    return fields;
  }

  void writeCounter(const TraceMemoryEvent& memory, const char* what, std::int64_t value,
                    std::optional<PerfettoEventForm>* form) {
    if (!*form) {
      const std::uint64_t track = ++file_->lastTrack;
      const std::string name =
          "memory of " + deviceName(memory.deviceType, memory.deviceIndex) + what;
      appendTrackPacket(counterDescriptor(track, processTrack_, name, perfetto::track::kBytes),
                        sequence_.text());
      form->emplace(counterFields(track), &sequence_);
    }
    (*form)->append(VarintBytes(static_cast<std::uint64_t>(value)).view(), origin_ + memory.time);
  }

  const std::uint64_t processTrack_;
  const std::vector<std::uint64_t>& threadTracks_;
  const std::int64_t origin_;
  PerfettoFileState* const file_;
  PerfettoSequence sequence_;
  std::map<InstantKey, PerfettoEventForm> instants_;
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
