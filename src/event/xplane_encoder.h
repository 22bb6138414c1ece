// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"

#include "event/xplane.h"

namespace steptape {

// A profile for XProf, put together from the events up:
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
// The bytes are those that Protocol Buffers would make. Texts become valid UTF-8, since XProf drops
// a whole file over one that is not.

/// Encodes the events of a line.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    No message is built: some 20 bytes an event and 6 bytes or so a number.
class STEPTAPE_EXPORT XLineEncoder {
 public:
  XLineEncoder(std::int64_t id, std::string_view name);

  /// Starts an event. XProf wants those of a line by time, parents before children.
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

  std::vector<std::string> full_;  // chunks of whole events
  std::string chunk_;              // the last one, and room for more
  std::size_t used_ = 0;           // of it
  std::size_t event_ = 0;          // where in it the event begins
};

/// Encodes a plane: its lines, and the names to which they refer by numbers above 0.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT XPlaneEncoder {
 public:
  /// @param id Another one for each plane of a file.
  XPlaneEncoder(std::int64_t id, std::string_view name);
  XPlaneEncoder(XPlaneEncoder&&) noexcept;
  XPlaneEncoder& operator=(XPlaneEncoder&&) noexcept;
  ~XPlaneEncoder();

  /// @return the number of this name, another one at each call.
  std::int64_t addEventName(const XEventName& name);

  /// The number of the stats of this name, the same at each call.
  std::int64_t statId(std::string_view name);

  /// A stat of the plane itself.
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

  /// REQUIRES: all warnings are written. Call it once at most: XProf reads only one.
  void addHostName(std::string_view name);

  /// The file, in consecutive parts.
  const std::vector<std::string>& pieces() const { return pieces_; }

 private:
  std::vector<std::string> pieces_;
};

}  // namespace steptape
