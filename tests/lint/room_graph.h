// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>

#include "lint/source_tree.h"

namespace steptape::lint {

/// A library of the project: a folder of a district.
struct Room {
  std::string name;               ///< "log_writer", for the target steptape::log_writer.
  std::string district;           ///< "log"
  std::string folder;             ///< "src/log/writer", or "python".
  std::set<std::string> headers;  ///< Public ones: "steptape/log/scalar.h".
  std::set<std::string> links;    ///< Rooms, and other targets of the namespace: "libtorch".
};

/// The rooms and what each links to, as the CMakeLists.txt files declare it: the only place that
/// states it.
class RoomGraph {
 public:
  /// @param project The CMakeLists.txt files of src, tools and python.
  explicit RoomGraph(const SourceTree& project);

  const std::map<std::string, Room>& rooms() const { return rooms_; }

  /// Returns the room of a file, or of an include as it is written; null if it is in none.
  const Room* roomOf(const std::string& path) const;

  /// Returns `room` and every room below it, and the other targets that they link.
  std::set<std::string> reachableFrom(const std::string& room) const;

  /// Returns the rooms that a program has which links the component `core`.
  std::set<std::string> core() const;

  /// Returns for each district the others that its rooms link to.
  std::map<std::string, std::set<std::string>> districts() const;

 private:
  void addFolder(const std::string& folder, const std::string& text);

  std::map<std::string, Room> rooms_;
  std::set<std::string> core_;
};

}  // namespace steptape::lint
