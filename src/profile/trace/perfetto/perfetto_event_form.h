// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profile/trace/perfetto/perfetto_sequence.h"
#include "profile/trace/text/trace_text.h"

namespace steptape::detail::profile {

/// A varint as bytes.
class VarintBytes {
 public:
  explicit VarintBytes(std::uint64_t value) : end_(put(bytes_.data(), value)) {}

  std::string_view view() const { return {bytes_.data(), size()}; }
  std::size_t size() const { return static_cast<std::size_t>(end_ - bytes_.data()); }

  static char* put(char* out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      *out++ = static_cast<char>(value | 0x80);
    }
    *out++ = static_cast<char>(value);
    return out;
  }

 private:
  std::array<char, 10> bytes_;
  const char* end_;
};

/// The begin of a packet with an event, up to what differs between events of the same form.
///
/// @param eventFields The event's first fields.
/// @param lastBytes   How many bytes of fields follow them. If there are none, the key of the time
///                    is part of the result, else it follows those fields.
/// @param timeBytes   How many bytes the time has.
std::string perfettoEventHead(std::string_view packetHead, std::string_view eventFields,
                              std::size_t lastBytes, std::size_t timeBytes);

/// Writes events of one sequence that begin with the same fields.
///
/// @threads Not thread-safe: one thread at a time.
class PerfettoEventForm {
 public:
  PerfettoEventForm(std::string fields, PerfettoSequence* sequence)
      : fields_(std::move(fields)), sequence_(sequence) {}

  /// @param lastFields The other fields of the event; the first may be the rest of a field that the
  ///                   form begins.
  /// @param unixNanos  Not before that of the sequence's previous event.
  void append(std::string_view lastFields, std::int64_t unixNanos);

 private:
  struct Variant {
    std::size_t lastBytes;
    std::size_t timeBytes;
    RepeatedText head;
  };
  RepeatedText* headFor(std::size_t lastBytes, std::size_t timeBytes);

  std::string fields_;
  PerfettoSequence* sequence_;
  std::vector<Variant> variants_;
};

}  // namespace steptape::detail::profile
