// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/events/event.h"

namespace steptape::detail::events {

/// One scalar series in encoded form: all bytes of a Summary.Value except the four bytes of its
/// float, which are the only ones that change from step to step.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT ScalarValueTemplate {
 public:
  /// @param tag      The tag, valid UTF-8.
  /// @param metadata Display name and description. The plugin is always "scalars" and the data
  ///                 class kScalar, whatever `metadata` says.
  explicit ScalarValueTemplate(std::string_view tag, const event::SummaryMetadata& metadata = {},
                               ValueForm form = ValueForm::kCompatible);

  /// Returns whether a tag's first value in a file differs from the later ones. The field
  /// `simple_value` implies the plugin "scalars", so metadata is needed only for a display name or
  /// description.
  bool hasMetadata() const { return first_.size != later_.size; }

 private:
  friend class ScalarEventEncoder;
  // Copies blocks of 16 bytes: for the 25 bytes of a usual tag, twice as fast as calling memcpy().
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

/// Encodes an Event of scalars: `simple_value`s, or rank-0 DT_FLOAT tensors of the plugin
/// "scalars". The bytes equal those of encodeEvent(), but no message is built.
///
/// Use: begin(), add() for each scalar, finish(); then begin() again.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    Per scalar 9 bytes plus the tag, 14 plus the tag as a tensor; per event about 15 plus
///          the framing. Each byte is copied twice. No allocation once the buffer has grown to the
///          largest event.
/// @source  docs/event_file_format.md, "Scalars"
class STEPTAPE_EXPORT ScalarEventEncoder {
 public:
  /// Starts an event and discards values that were added before.
  /// @units `wallTime`: seconds since 1970-01-01 UTC.
  void begin(double wallTime, std::int64_t step);

  /// Adds one value to the event.
  ///
  /// @param withMetadata Whether to include the template's metadata. Readers need it with a tag's
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

  /// Returns the number of values since begin(); 0 after finish() or clear().
  std::size_t size() const { return count_; }

  /// Calls appendTo() and clear().
  void finish(std::string* out) {
    appendTo(out);
    clear();
  }
  /// Appends the bytes of the complete event to `*out`.
  void appendTo(std::string* out) const;
  /// Discards the event.
  void clear() { count_ = 0; }

 private:
  void grow(std::size_t bytes);
  static void storeFloat(char* to, float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    for (int i = 0; i < 4; ++i) {
      to[i] = static_cast<char>(bits >> (8 * i));  // compilers make this one store
    }
  }

  std::string values_;  // the Summary's bytes, with spare capacity
  std::size_t used_ = 0;
  double wallTime_ = 0;
  std::int64_t step_ = 0;
  std::size_t count_ = 0;
};

}  // namespace steptape::detail::events
