// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/event/event.h"

namespace steptape {

/// One scalar series in encoded form: all bytes of a Summary.Value but the four of its float, which
/// are the only ones that change from step to step.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT ScalarValueTemplate {
 public:
  /// @param tag      The tag, valid UTF-8.
  /// @param metadata Display name and description. The plugin is always "scalars" and the data
  /// class
  ///                 kScalar, whatever `metadata` says.
  explicit ScalarValueTemplate(std::string_view tag, const SummaryMetadata& metadata = {});

  /// Appends the value as a field of a Summary.
  ///
  /// @param withMetadata Whether plugin, display name and description go with it. Readers need them
  ///                     with a tag's first value in each file, and ignore them later.
  /// @cost One copy of the encoded bytes.
  void append(std::string* out, float value, bool withMetadata) const;

 private:
  struct Encoded {
    std::string bytes;
    std::size_t floatOffset;
  };
  static Encoded encode(std::string_view tag, std::string_view metadata);

  Encoded first_;  // with metadata
  Encoded later_;  // without
};

/// Encodes an Event that holds scalars in TensorBoard's current form: rank-0 DT_FLOAT tensors of
/// the plugin "scalars". Byte for byte what encodeEvent() gives, without building a message.
///
/// Use: begin(), add() for each scalar, finish(); then begin() again.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    14 bytes and the tag per scalar, 15 bytes or so and the framing per event. Two copies
/// of
///          these bytes; no allocation once the buffer has grown to the largest event.
/// @source  docs/event_file_format.md, "Scalars"
class STEPTAPE_EXPORT ScalarEventEncoder {
 public:
  /// Starts an event and forgets what was added before.
  /// @units `wallTime`: seconds since 1970-01-01 UTC.
  void begin(double wallTime, std::int64_t step);

  /// Adds one value to the event.
  /// @param withMetadata As for ScalarValueTemplate::append().
  void add(const ScalarValueTemplate& scalar, float value, bool withMetadata) {
    scalar.append(&values_, value, withMetadata);
    ++count_;
  }

  /// Values added since begin(); 0 after finish().
  std::size_t size() const { return count_; }

  /// Appends the whole event's bytes to `*out`.
  void finish(std::string* out);

 private:
  std::string values_;  // the Summary's bytes
  double wallTime_ = 0;
  std::int64_t step_ = 0;
  std::size_t count_ = 0;
};

}  // namespace steptape
