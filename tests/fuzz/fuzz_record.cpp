// SPDX-License-Identifier: Apache-2.0
// Damaged files of records: all whole records are found, and nothing else is taken for one.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/tfrecord/record_reader.h"

#include "fuzz/fuzz_file.h"

namespace steptape {
namespace {

/// Gives a few bytes per read.
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

/// Checks that the reader gave what lies at `begin`, with two good checksums.
void checkRecord(std::string_view bytes, std::size_t begin, std::string_view payload) {
  require(bytes.size() - begin >= payload.size() + kFramingBytes, "a record lies in the file");
  require(bytes.substr(begin + kHeaderBytes, payload.size()) == payload, "a payload is unchanged");
  require(bytes.substr(begin, payload.size() + kFramingBytes) == framedRecord(payload),
          "a record has good checksums");
}

/// Where all whole records lie, as the reader finds them, going on behind damage.
Extents readAll(RecordReader* reader, std::string_view bytes) {
  Extents records;
  for (;;) {
    const std::size_t begin = reader->offset();
    std::string_view payload;
    const ReadOutcome outcome = reader->next(&payload);
    if (outcome == ReadOutcome::kRecord) {
      checkRecord(bytes, begin, payload);
      records.emplace_back(begin, payload.size() + kFramingBytes);
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

/// Whether `record` was found, or a part of it belongs to another with good checksums: a header
/// that says 8 bytes makes one with the header behind it, whose checksum is that of its first 8
/// bytes.
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
