// SPDX-License-Identifier: Apache-2.0
// Any bytes as the files of a dead process's black box: as they are, as the payloads of its
// records, and as the words of a ring.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "events/framing/record_buffer.h"
#include "fuzz/fuzz_input.h"
#include "log/writer/dead_process.h"
#include "log/writer/kill_proof_log.h"
#include "process/blackbox/box_header.h"

namespace steptape::detail {
namespace {

constexpr std::uint64_t kBox = 7;

std::string headerOf(const char* part) {
  process::BoxHeader header;
  header.box = kBox;
  return process::encodeBoxHeader(header, part);
}

/// Returns records, so that the fuzzer need not find their checksums.
std::string recordsOf(FuzzInput* input) {
  events::RecordBuffer records;
  for (std::size_t count = input->below(8); count > 0; --count) {
    records.append(input->text());
  }
  return std::string(records.bytes()) + input->text();
}

std::string ringOf(FuzzInput* input) {
  std::string slot(log::kRingSlotBytes, '\0');
  const auto setWord = [&](std::size_t index) {
    std::uint64_t word = input->byte();
    if (input->below(4) == 0) {
      word = word << 32 | 0xffffffffU;  // a batch
    }
    std::memcpy(slot.data() + 8 * index, &word, sizeof(word));
  };
  for (const std::size_t cursor : {0U, 3U, 9U}) {  // the end, what was discarded, what is safe
    setWord(cursor);
  }
  for (std::size_t i = 0; i < 300; ++i) {
    setWord(16 + i);
  }
  return slot;
}

void readBox(FuzzInput* input) {
  log::DeadProcess::Files files;
  if (input->below(8) == 0) {
    files.names = files.log = files.rings = input->rest();
  } else {
    files.names = headerOf("names") + recordsOf(input);
    files.log = headerOf("log") + recordsOf(input);
    files.rings = headerOf("rings") + ringOf(input);
  }
  const std::size_t bytes = files.log.size();
  const log::DeadProcess process = log::DeadProcess::decode(std::move(files), kBox);
  require(process.logBytes <= bytes, "the records lie in the log");
  for (const auto& [id, stream] : process.streams) {
    require(stream.bytes.size() <= bytes, "the bytes of a stream lie in the log");
  }
  require(std::is_sorted(
              process.entries.begin(), process.entries.end(),
              [](const log::RingEntry& a, const log::RingEntry& b) { return a.ticks < b.ticks; }),
          "entries are in the order of their ticks");
  for (const log::RingEntry& entry : process.entries) {
    require(entry.isScalar(), "addresses of the dead process are not used");
  }
}

}  // namespace
}  // namespace steptape::detail

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  steptape::FuzzInput input(data, size);
  steptape::detail::readBox(&input);
  return 0;
}
