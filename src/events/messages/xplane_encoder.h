// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"

#include "events/messages/xplane.h"

namespace steptape::detail::events {

// Encodes a profile for XProf, starting with the events:
//
//     XPlaneEncoder plane(1, "/host:CPU");
//     XLineEncoder line(tid, "main");
//     line.beginEvent(plane.addEventName({"step"}), offsetPicos, durationPicos);
//     line.addStat(plane.statId("group_id"), std::int64_t{7});
//     line.endEvent();
//     plane.addLine(std::move(line));
//     XSpaceEncoder space;
//     space.addPlane(std::move(plane));
//     for (const std::string& piece : space.pieces()) { file.write(piece); }
//
// The bytes equal those of Protocol Buffers. Texts are converted to valid UTF-8, because XProf
// rejects a whole file because of one invalid text.

/// Encodes the events of a line.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    Builds no message. About 20 bytes per event and 6 bytes per number.
class STEPTAPE_EXPORT XLineEncoder {
 public:
  XLineEncoder(std::int64_t id, std::string_view name);

  /// Starts an event. XProf expects the events of a line by time, parents before children.
  ///
  /// @param nameId See XPlaneEncoder::addEventName().
  void beginEvent(std::int64_t nameId, std::int64_t offsetPicos, std::int64_t durationPicos);

  /// @param id See XPlaneEncoder::statId().
  void addStat(std::int64_t id, std::int64_t value);
  void addStat(std::int64_t id, std::uint64_t value);
  void addStat(std::int64_t id, double value);
  void addStat(std::int64_t id, XStatReference value);
  void addStat(std::int64_t id, std::string_view value);

  void endEvent();

 private:
  friend class XPlaneEncoder;

  char* room(std::size_t bytes);
  void endChunk();
  void addNumber(std::int64_t id, std::uint32_t field, std::uint64_t value);
  void addWhole(std::string_view stat);

  std::vector<std::string> full_;  // chunks of complete events
  std::string chunk_;              // the last chunk, with spare capacity
  std::size_t used_ = 0;           // bytes used in chunk_
  std::size_t event_ = 0;          // start of the event in chunk_
};

/// Encodes a plane: its lines, and the names to which lines refer by positive numbers.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT XPlaneEncoder {
 public:
  /// @param id Unique within the file.
  XPlaneEncoder(std::int64_t id, std::string_view name);
  XPlaneEncoder(XPlaneEncoder&&) noexcept;
  XPlaneEncoder& operator=(XPlaneEncoder&&) noexcept;
  ~XPlaneEncoder();

  /// @return the number of the name; a new number at each call.
  std::int64_t addEventName(const XEventName& name);

  /// Returns the number of the stats with this name; the same at each call.
  std::int64_t statId(std::string_view name);

  /// Adds a stat of the plane itself.
  void addStat(std::string_view name, const XStatValue& value);

  void addLine(XLineEncoder line);

 private:
  friend class XSpaceEncoder;
  struct Names;

  std::string head_;
  std::vector<std::string> lines_;  // in consecutive pieces
  std::size_t lineBytes_ = 0;
  std::unique_ptr<Names> names_;
};

/// Encodes a file.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT XSpaceEncoder {
 public:
  void addPlane(XPlaneEncoder plane);

  /// Adds a message for the page. REQUIRES: all planes are written.
  void addWarning(std::string_view text);

  /// Adds the host's name. REQUIRES: all warnings are written. Call it at most once: XProf reads
  /// only one.
  void addHostName(std::string_view name);

  /// Returns the file in consecutive parts.
  const std::vector<std::string>& pieces() const { return pieces_; }

 private:
  std::vector<std::string> pieces_;
};

}  // namespace steptape::detail::events
