// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
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
  ///                 class kScalar, whatever `metadata` says.
  explicit ScalarValueTemplate(std::string_view tag, const event::SummaryMetadata& metadata = {},
                               ValueForm form = ValueForm::kCompatible);

  /// Whether a tag's first value in a file differs from the later ones. A `simple_value` is one of
  /// the plugin "scalars" by its field, and needs metadata only for a display name or description.
  bool hasMetadata() const { return first_.size != later_.size; }

 private:
  friend class ScalarEventEncoder;
  // Copied in blocks of 16 bytes: twice as fast as a call to memcpy for the 25 bytes of a usual
  // tag.
  static constexpr std::size_t kBlock = 16;
  struct Encoded {
    std::string bytes;  // padded to whole blocks
    std::size_t size = 0;
    std::size_t floatOffset = 0;
  };
  static Encoded encode(std::string_view tag, std::string_view metadata, ValueForm form);

  Encoded first_;  // with metadata
  Encoded later_;  // without
};

/// Encodes an Event that holds scalars: `simple_value`s, or rank-0 DT_FLOAT tensors of the plugin
/// "scalars". Byte for byte what encodeEvent() gives, without building a message.
///
/// Use: begin(), add() for each scalar, finish(); then begin() again.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    9 bytes and the tag per scalar, 14 as a tensor; about 15 and the framing per event.
///          Two copies of these; no allocation once the buffer has grown to the largest event.
/// @source  docs/event_file_format.md, "Scalars"
class STEPTAPE_EXPORT ScalarEventEncoder {
 public:
  /// Starts an event and forgets what was added before.
  /// @units `wallTime`: seconds since 1970-01-01 UTC.
  void begin(double wallTime, std::int64_t step);

  /// Adds one value to the event.
  ///
  /// @param withMetadata Whether the template's metadata goes with it. Readers need it with a tag's
  ///                     first value in each file, and ignore it later.
  void add(const ScalarValueTemplate& scalar, float value, bool withMetadata) {
    const ScalarValueTemplate::Encoded& encoded = withMetadata ? scalar.first_ : scalar.later_;
    if (values_.size() - used_ < encoded.bytes.size()) {
      grow(encoded.bytes.size());
    }
    char* const to = values_.data() + used_;
    const char* const from = encoded.bytes.data();
    for (std::size_t i = 0; i < encoded.bytes.size(); i += ScalarValueTemplate::kBlock) {
      std::memcpy(to + i, from + i, ScalarValueTemplate::kBlock);
    }
    storeFloat(to + encoded.floatOffset, value);
    used_ += encoded.size;
    ++count_;
  }

  /// Values added since begin(); 0 after finish() or clear().
  std::size_t size() const { return count_; }

  /// appendTo() and clear().
  void finish(std::string* out) {
    appendTo(out);
    clear();
  }
  /// Appends the whole event's bytes to `*out`.
  void appendTo(std::string* out) const;
  /// Forgets the event.
  void clear() { count_ = 0; }

 private:
  void grow(std::size_t bytes);
  static void storeFloat(char* to, float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    for (int i = 0; i < 4; ++i) {
      to[i] = static_cast<char>(bits >> (8 * i));  // one store, once compiled
    }
  }

  std::string values_;  // the Summary's bytes, and room for more
  std::size_t used_ = 0;
  double wallTime_ = 0;
  std::int64_t step_ = 0;
  std::size_t count_ = 0;
};

}  // namespace steptape
