// SPDX-License-Identifier: Apache-2.0
#include "server/store/run_tail.h"

#include <string_view>

#include "steptape/events/record_reader.h"

#include "events/framing/record_format.h"
#include "log/reader/series_batch.h"

namespace steptape::detail::server {

std::shared_ptr<const RunTail> makeTail(const std::vector<const log::Unwritten*>& unwritten,
                                        const ServedRun& run) {
  auto tail = std::make_shared<RunTail>();
  log::SeriesBatch batch(/*isInOrder=*/false,
                         [&](const std::string& tag) { return run.firstPlugin(tag); });
  for (const log::Unwritten* const each : unwritten) {
    const std::string& name = each->file.empty() ? each->newFile : each->file;
    const auto number = static_cast<std::uint32_t>(RunTail::kFirst + tail->records.size());
    tail->records.push_back(
        std::make_unique<MemoryByteSource>(each->bytes, each->directory + "/" + name));
    RecordReader reader(tail->records.back().get());
    for (std::string_view payload; reader.next(&payload) == ReadOutcome::kRecord;) {
      batch.add(payload,
                {0, 0, reader.offset() - payload.size() - events::kFramingBytes, 0, number, 0});
    }
  }
  tail->points.append(&batch);
  return tail;
}

}  // namespace steptape::detail::server
