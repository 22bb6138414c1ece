// SPDX-License-Identifier: Apache-2.0
#include "server/provider/scalar_data.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/little_endian.h"
#include "events/messages/wire_format.h"
#include "server/store/point_choice.h"

namespace steptape::detail::server {
namespace {

// The fields of a ReadScalarsResponse, its RunEntry and its TagEntry.
constexpr std::uint32_t kRuns = 1;
constexpr std::uint32_t kRunName = 1;
constexpr std::uint32_t kTags = 2;
constexpr std::uint32_t kTagName = 1;
constexpr std::uint32_t kData = 2;

/// Returns the bytes of a field with that many bytes. Its number is below 16.
std::size_t fieldBytes(std::size_t bytes) {
  return 1 + events::varintBytes(bytes) + bytes;
}

void beginField(std::string* out, std::uint32_t field, std::size_t bytes) {
  events::appendFieldKey(out, field, events::WireType::kLengthDelimited);
  events::appendVarint(out, bytes);
}

// The fields of a ScalarData, each a packed list.
constexpr std::uint32_t kStep = 1;
constexpr std::uint32_t kWallTime = 2;
constexpr std::uint32_t kValue = 3;

/// Appends numbers to a string in blocks: std::string would fill its new end with zeros first.
class BlockWriter {
 public:
  explicit BlockWriter(std::string* out) : out_(*out) {}
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;
  ~BlockWriter() { flush(); }

  void addVarint(std::uint64_t number) {
    makeRoom();
    end_ = events::writeVarint(end_, number);
  }
  void add(double number) {
    makeRoom();
    std::uint64_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    base::storeLittleEndian64(end_, bits);
    end_ += sizeof bits;
  }
  void add(float number) {
    makeRoom();
    std::uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    base::storeLittleEndian32(end_, bits);
    end_ += sizeof bits;
  }
  /// Appends all numbers of an array.
  template <typename T>
  void add(const T* numbers, std::size_t count) {
    if (base::kIsLittleEndian) {
      flush();
      out_.append(reinterpret_cast<const char*>(numbers), count * sizeof(T));
    } else {
      std::for_each(numbers, numbers + count, [this](T number) { add(number); });
    }
  }

 private:
  void makeRoom() {
    if (end_ + events::kMaxVarint > block_.data() + block_.size()) {
      flush();
    }
  }
  void flush() {
    out_.append(block_.data(), static_cast<std::size_t>(end_ - block_.data()));
    end_ = block_.data();
  }

  std::string& out_;
  std::array<char, 4096> block_;
  char* end_ = block_.data();
};

/// Points of a series: all of its first ones, or the chosen ones.
class Points {
 public:
  Points(const ScalarSeries& series, std::size_t count) : series_(series), count_(count) {}
  Points(const ScalarSeries& series, std::vector<std::size_t> chosen)
      : series_(series), count_(chosen.size()), chosen_(std::move(chosen)), isChosen_(true) {}

  std::size_t count() const { return count_; }
  template <typename Use>
  void forEachStep(const Use& use) const {
    for (const std::size_t i : chosen_) {
      use(series_.step(i));
    }
    if (!isChosen_) {
      series_.steps().forEach(count_, use);
    }
  }
  void addWallTimes(BlockWriter* writer) const { addNumbers(writer, series_.wallTimes()); }
  void addValues(BlockWriter* writer) const { addNumbers(writer, series_.values()); }

 private:
  template <typename T>
  void addNumbers(BlockWriter* writer, const T* numbers) const {
    for (const std::size_t i : chosen_) {
      writer->add(numbers[i]);
    }
    if (!isChosen_ && count_ > 0) {
      writer->add(numbers, count_);
    }
  }

  const ScalarSeries& series_;
  std::size_t count_;
  std::vector<std::size_t> chosen_;
  bool isChosen_ = false;
};

/// Returns the points of a tag that are chosen.
std::vector<Points> pointsOf(const TagView& tag, std::size_t most) {
  std::vector<Points> points;
  if (tag.size() <= most) {
    tag.forEachPart(
        [&](const ScalarSeries& series, std::size_t count) { points.emplace_back(series, count); });
    return points;
  }
  const std::vector<std::size_t> chosen = chooseScalars(tag, most);
  std::size_t before = 0;
  auto next = chosen.begin();
  tag.forEachPart([&](const ScalarSeries& series, std::size_t count) {
    std::vector<std::size_t> here;
    for (; next != chosen.end() && *next < before + count; ++next) {
      here.push_back(*next - before);
    }
    points.emplace_back(series, std::move(here));
    before += count;
  });
  return points;
}

}  // namespace

std::string encodeScalarData(const TagView& tag, std::size_t most) {
  const std::vector<Points> parts = pointsOf(tag, most);
  std::size_t count = 0;
  std::string steps;
  {
    BlockWriter writer(&steps);
    for (const Points& points : parts) {
      count += points.count();
      points.forEachStep(
          [&](std::int64_t step) { writer.addVarint(static_cast<std::uint64_t>(step)); });
    }
  }
  std::string out;
  constexpr std::size_t kKeys = 3 * (1 + events::kMaxVarint);
  out.reserve(steps.size() + count * (sizeof(double) + sizeof(float)) + kKeys);
  events::appendBytesField(&out, kStep, steps);
  beginField(&out, kWallTime, count * sizeof(double));
  for (const Points& points : parts) {
    BlockWriter writer(&out);
    points.addWallTimes(&writer);
  }
  beginField(&out, kValue, count * sizeof(float));
  for (const Points& points : parts) {
    BlockWriter writer(&out);
    points.addValues(&writer);
  }
  return out;
}

std::string* ScalarsAnswer::add(std::string_view run, std::string_view tag) {
  if (runs_.empty() || runs_.back().name != run) {
    runs_.push_back({std::string(run), {}});
  }
  return &runs_.back().tags.emplace_back(Tag{std::string(tag), {}}).data;
}

bool ScalarsAnswer::next(Message* message, CallStatus* status) {
  *status = CallStatus();
  if (std::exchange(isTaken_, true)) {
    return false;
  }
  const auto bytesOf = [](const Tag& tag) {
    return fieldBytes(tag.name.size()) + fieldBytes(tag.data.size());
  };
  for (Run& run : runs_) {
    std::size_t bytes = fieldBytes(run.name.size());
    for (const Tag& tag : run.tags) {
      bytes += fieldBytes(bytesOf(tag));
    }
    std::string head;
    beginField(&head, kRuns, bytes);
    events::appendBytesField(&head, kRunName, run.name);
    for (Tag& tag : run.tags) {
      beginField(&head, kTags, bytesOf(tag));
      events::appendBytesField(&head, kTagName, tag.name);
      beginField(&head, kData, tag.data.size());
      message->append(std::exchange(head, {}));
      message->append(std::move(tag.data));
    }
  }
  runs_.clear();
  return true;
}

}  // namespace steptape::detail::server
