// SPDX-License-Identifier: Apache-2.0
#include "lint/room_graph.h"

#include <filesystem>
#include <regex>

namespace steptape::lint {
namespace {

/// Returns the text without its comments.
std::string textOf(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) {
    text += line.text.substr(0, line.text.find('#')) + "\n";
  }
  return text;
}

/// Returns the names in `text` that begin with "steptape::", without that.
std::set<std::string> targetsIn(const std::string& text) {
  static const std::regex kTarget(R"(steptape::(\w+))");
  std::set<std::string> targets;
  for (std::sregex_iterator match(text.begin(), text.end(), kTarget), end; match != end; ++match) {
    targets.insert((*match)[1]);
  }
  return targets;
}

std::set<std::string> headersIn(const std::string& text) {
  static const std::regex kHeader(R"(\bsteptape/[\w/]+\.h\b)");
  std::set<std::string> headers;
  for (std::sregex_iterator match(text.begin(), text.end(), kHeader), end; match != end; ++match) {
    headers.insert(match->str());
  }
  return headers;
}

/// Returns "log" for "src/log/writer", and "python" for "python".
std::string districtOf(const std::string& folder) {
  static const std::regex kDistrict(R"(^(?:src/)?(\w+))");
  std::smatch match;
  return std::regex_search(folder, match, kDistrict) ? match[1].str() : "";
}

}  // namespace

RoomGraph::RoomGraph(const SourceTree& project) {
  for (const std::string& file : project.files()) {
    const std::string folder = std::filesystem::path(file).parent_path().generic_string();
    addFolder(folder, textOf(project.lines(file)));
  }
}

void RoomGraph::addFolder(const std::string& folder, const std::string& text) {
  if (districtOf(folder) == "tools" || folder == "python") {
    const std::string name = districtOf(folder);
    rooms_[name] = {name, name, name, {}, targetsIn(text)};
    return;
  }
  static const std::regex kCall(R"(steptape_add_(library|interface)\((\w+)([^)]*)\))");
  for (std::sregex_iterator match(text.begin(), text.end(), kCall), end; match != end; ++match) {
    const std::string name = (*match)[2];
    const std::string arguments = (*match)[3];
    if ((*match)[1] == "interface") {
      core_ = targetsIn(arguments);
    } else {
      rooms_[name] = {name, districtOf(folder), folder, headersIn(arguments), targetsIn(arguments)};
    }
  }
}

const Room* RoomGraph::roomOf(const std::string& path) const {
  const Room* found = nullptr;
  for (const auto& [name, room] : rooms_) {
    for (const std::string& header : room.headers) {
      if (path == header || path == "include/" + header) {
        return &room;
      }
    }
    for (const std::string& place : {path, "src/" + path}) {
      const bool isInside = place.compare(0, room.folder.size() + 1, room.folder + "/") == 0;
      if (isInside && (found == nullptr || found->folder.size() < room.folder.size())) {
        found = &room;
      }
    }
  }
  return found;
}

std::set<std::string> RoomGraph::reachableFrom(const std::string& room) const {
  std::set<std::string> reachable{room};
  const auto found = rooms_.find(room);
  if (found != rooms_.end()) {
    for (const std::string& below : found->second.links) {
      reachable.merge(reachableFrom(below));
    }
  }
  return reachable;
}

std::set<std::string> RoomGraph::core() const {
  std::set<std::string> rooms;
  for (const std::string& room : core_) {
    rooms.merge(reachableFrom(room));
  }
  return rooms;
}

std::map<std::string, std::set<std::string>> RoomGraph::districts() const {
  std::map<std::string, std::set<std::string>> below;
  for (const auto& [name, room] : rooms_) {
    std::set<std::string>& links = below[room.district];
    for (const std::string& link : room.links) {
      const auto target = rooms_.find(link);
      if (target != rooms_.end() && target->second.district != room.district) {
        links.insert(target->second.district);
      }
    }
  }
  return below;
}

}  // namespace steptape::lint
