// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/text/trace_text.h"

#include <functional>

#include "profile/trace/deflate/crc32.h"

namespace steptape::detail::profile {
namespace {

/// Deflate, without name and time, from an unknown system.
/// @source RFC 1952
constexpr std::string_view kGzipHeader{"\x1f\x8b\x08\0\0\0\0\0\0\xff", 10};

}  // namespace

void RepeatedText::add(std::string_view part) {
  text_ += part;
  const std::size_t hash = std::hash<std::string_view>()(part);
  parts_.push_back({static_cast<std::uint32_t>(part.size()),
                    static_cast<std::uint32_t>(hash % TraceText::kPartSlots)});
}

TraceText::TraceText(base::ReplacementFile* file, bool compress, const DeflateCode& code)
    : file_(file),
      compress_(compress),
      buffer_(kBufferBytes + sizeof(std::uint64_t)),
      deflate_(code) {
  if (compress_) {
    file_->write(kGzipHeader);
  }
}

void TraceText::append(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = std::min(text.size(), kMaxRepeatedBytes);
    makeRoom(size);
    char* const begin = end();
    std::memcpy(begin, text.data(), size);
    appendLiterals(begin, begin + size);
    text.remove_prefix(size);
  }
}

void TraceText::appendParts(RepeatedText* repeated) {
  std::string_view rest = repeated->text_;
  for (const RepeatedText::Part part : repeated->parts_) {
    const std::string_view text = rest.substr(0, part.size);
    const std::uint64_t known = partEnds_[part.slot];
    const std::uint64_t distance = position() - known + text.size();
    // The known position is the end of any part with the same hash.
    if (text.size() >= kMinMatchLength && known >= text.size() && distance <= kMaxMatchDistance &&
        std::memcmp(end() - distance, text.data(), text.size()) == 0) {
      repeat(text.size(), static_cast<std::size_t>(distance));
    } else {
      append(text);
    }
    partEnds_[part.slot] = position();
    rest.remove_prefix(part.size);
  }
  repeated->partsNoted_ = position();
}

void TraceText::noteParts(RepeatedText* repeated) {
  std::uint64_t end = position() - repeated->text_.size();
  for (const RepeatedText::Part part : repeated->parts_) {
    end += part.size;
    partEnds_[part.slot] = end;
  }
  repeated->partsNoted_ = end;
}

void TraceText::passOn() {
  const std::string_view fresh{buffer_.data() + passedOn_, size_ - passedOn_};
  if (compress_) {
    crc_ = extendCrc32(crc_, fresh.data(), fresh.size());
    file_->write(deflate_.bytes());
    deflate_.clear();
  } else {
    file_->write(fresh);
  }
  const std::size_t kept = std::min(size_, kMaxMatchDistance);
  std::memmove(buffer_.data(), end() - kept, kept);
  start_ += size_ - kept;
  size_ = kept;
  passedOn_ = kept;
}

void TraceText::finish() {
  if (!compress_) {
    passOn();
    return;
  }
  flushMatch();
  deflate_.finish();
  const auto size = static_cast<std::uint32_t>(position());  // gzip stores it modulo 2^32
  passOn();
  char trailer[8];
  base::storeLittleEndian32(trailer, crc_);
  base::storeLittleEndian32(trailer + 4, size);
  file_->write({trailer, sizeof trailer});
}

}  // namespace steptape::detail::profile
