// SPDX-License-Identifier: Apache-2.0
// Fuzzes damaged files of records: all complete records are found, and nothing else is regarded as
// a record.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/events/record_reader.h"

#include "fuzz/fuzz_file.h"

namespace steptape {
namespace {

/// Returns a few bytes per read.
class PiecewiseSource final : public ByteSource {
 public:
  PiecewiseSource(std::string bytes, std::size_t pieceBytes)
      : bytes_(std::move(bytes)), pieceBytes_(pieceBytes) {}
  Status read(std::uint64_t offset, char* data, std::size_t size, std::size_t* got) const override {
    return bytes_.read(offset, data, std::min(size, pieceBytes_), got);
  }
  const std::string& name() const override { return bytes_.name(); }

 private:
  MemoryByteSource bytes_;
  std::size_t pieceBytes_;
};

using Extents = std::vector<std::pair<std::size_t, std::size_t>>;

/// Checks that the reader returned the record at `begin`, which has two valid checksums.
void checkRecord(std::string_view bytes, std::size_t begin, std::string_view payload) {
  require(bytes.size() - begin >= payload.size() + detail::events::kFramingBytes,
          "a record lies in the file");
  require(bytes.substr(begin + detail::events::kHeaderBytes, payload.size()) == payload,
          "a payload is unchanged");
  require(bytes.substr(begin, payload.size() + detail::events::kFramingBytes) == recordOf(payload),
          "a record has good checksums");
}

/// Returns the positions of all complete records that the reader finds, including those after
/// damage.
Extents readAll(RecordReader* reader, std::string_view bytes) {
  Extents records;
  for (;;) {
    const std::size_t begin = reader->offset();
    std::string_view payload;
    const ReadOutcome outcome = reader->next(&payload);
    if (outcome == ReadOutcome::kRecord) {
      checkRecord(bytes, begin, payload);
      records.emplace_back(begin, payload.size() + detail::events::kFramingBytes);
      require(reader->offset() == begin + records.back().second, "offset() is behind the record");
      require(reader->lastError().ok(), "a record is no error");
      continue;
    }
    require(outcome != ReadOutcome::kIoError, "memory does not fail");
    require(reader->offset() == begin, "what is no record moves nothing");
    require(reader->lastError().ok() == (begin == bytes.size()), "the reader says what is wrong");
    if (begin == bytes.size()) {
      return records;
    }
    if (reader->findRecord(begin + 1) != ReadOutcome::kRecord) {
      return records;
    }
    require(reader->offset() > begin, "a search moves on");
  }
}

/// Returns whether `record` was found, or a part of it belongs to another record with valid
/// checksums: a header with length 8, followed by another header, whose checksum is that of its
/// first 8 bytes, is a record.
bool isCovered(const Extents& found, const Extents::value_type& record) {
  return std::any_of(found.begin(), found.end(), [&](const auto& each) {
    return each.first < record.first + record.second && record.first < each.first + each.second;
  });
}

void readFile(FuzzInput* input) {
  const std::size_t pieceBytes = 1 + input->below(64);
  const FuzzFile file = takeFile(input, [](FuzzInput* in) { return in->text(); });
  RecordReader whole(std::make_unique<MemoryByteSource>(file.bytes));
  const Extents found = readAll(&whole, file.bytes);
  for (const auto& record : file.records) {
    require(isCovered(found, record), "every whole record is found");
  }
  RecordReader piecewise(std::make_unique<PiecewiseSource>(file.bytes, pieceBytes));
  require(readAll(&piecewise, file.bytes) == found, "the sizes of reads change nothing");
}

}  // namespace
}  // namespace steptape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  steptape::FuzzInput input(data, size);
  steptape::readFile(&input);
  return 0;
}
