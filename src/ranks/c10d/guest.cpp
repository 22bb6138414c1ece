// SPDX-License-Identifier: Apache-2.0
#include "ranks/c10d/guest.h"

#include <cstdlib>
#include <map>
#include <random>
#include <sstream>
#include <sys/stat.h>
#include <utility>

#include "steptape/ranks/communicator.h"

#include "base/whole_file.h"
#include "ranks/engine/protocol.h"

namespace steptape::c10d::detail {
namespace {

using Place = steptape::detail::ranks::GroupMap::Place;

/// Containers of one machine may each have their own memory.
std::string memoryId() {
  std::string boot;
  if (!steptape::detail::base::readWholeFile("/proc/sys/kernel/random/boot_id", boot).ok()) {
    boot = randomText();
  }
  boot = boot.substr(0, boot.find('\n'));
  struct stat facts {};
  if (stat("/dev/shm", &facts) != 0) {
    return boot + " " + randomText();
  }
  return boot + " " + std::to_string(facts.st_dev) + " " + std::to_string(facts.st_ino);
}

std::string nextLine(std::istringstream& lines) {
  std::string line;
  std::getline(lines, line);
  return line;
}

std::string restOf(std::istringstream& lines) {
  std::ostringstream rest;
  rest << lines.rdbuf();
  return rest.str();
}

}  // namespace

std::string randomText() {
  std::random_device random;
  std::ostringstream text;
  text << std::hex << random() << random();
  return text.str();
}

Guest Guest::ofThisRank(const steptape::detail::ranks::Launch& launch) {
  return {launch.rank,
          steptape::detail::ranks::protocolText(),
          std::to_string(launch.size),
          memoryId(),
          Communicator().nodeName(),
          launch.job};
}

std::string Guest::encode() const {
  return std::to_string(rank) + "\n" + protocol + "\n" + size + "\n" + memory + "\n" + host + "\n" +
         job.encode();
}

Guest Guest::decode(const std::string& lines) {
  std::istringstream in(lines);
  Guest guest;
  guest.rank = std::atoi(nextLine(in).c_str());
  guest.protocol = nextLine(in);
  guest.size = nextLine(in);
  guest.memory = nextLine(in);
  guest.host = nextLine(in);
  guest.job = steptape::detail::process::JobIdentity::decode(restOf(in));
  return guest;
}

std::optional<Mismatch> Mismatch::find(const Guest& guest, const Guest& rankZero) {
  if (guest.protocol != rankZero.protocol) {
    return Mismatch{guest.rank, guest.host, guest.protocol, rankZero.protocol};
  }
  if (guest.size != rankZero.size) {
    return Mismatch{guest.rank, guest.host, "a job of " + guest.size + " ranks",
                    "a job of " + rankZero.size + " ranks"};
  }
  return std::nullopt;
}

std::string Mismatch::encode() const {
  return std::to_string(rank) + "\n" + host + "\n" + got + "\n" + expected + "\n";
}

Mismatch Mismatch::decode(const std::string& lines) {
  std::istringstream in(lines);
  Mismatch mismatch;
  mismatch.rank = std::atoi(nextLine(in).c_str());
  mismatch.host = nextLine(in);
  mismatch.got = nextLine(in);
  mismatch.expected = nextLine(in);
  return mismatch;
}

void Mismatch::raise() const {
  steptape::detail::ranks::throwStartMismatch(rank, host, got, expected);
}

std::vector<Place> placesOf(const std::vector<Guest>& byRank, int ranksPerNode) {
  std::vector<Place> places;
  std::map<std::string, int> nodes;
  for (const Guest& guest : byRank) {
    if (ranksPerNode > 0) {
      places.push_back(
          steptape::detail::ranks::simulatedPlace(guest.host, guest.rank, ranksPerNode));
    } else {
      const int next = static_cast<int>(nodes.size());
      places.push_back({nodes.emplace(guest.memory, next).first->second, guest.host});
    }
  }
  return places;
}

std::string encodePlaces(const std::vector<Place>& byRank) {
  std::map<std::pair<int, std::string>, std::size_t> numbers;
  std::string nodes;
  std::string ranks;
  std::size_t latest = 0;
  std::size_t count = 0;  // of consecutive ranks on node number `latest`
  const auto endLine = [&] {
    ranks += count == 0 ? "" : std::to_string(count) + " " + std::to_string(latest) + "\n";
    count = 0;
  };
  for (const Place& place : byRank) {
    const auto [number, isNew] =
        numbers.emplace(std::pair(place.nodeId, place.nodeName), numbers.size());
    if (isNew) {
      nodes += std::to_string(place.nodeId) + " " + place.nodeName + "\n";
    }
    if (number->second != latest) {
      endLine();
    }
    latest = number->second;
    ++count;
  }
  endLine();
  return std::to_string(numbers.size()) + "\n" + nodes + ranks;
}

std::vector<Place> decodePlaces(const std::string& text) {
  std::istringstream in(text);
  std::vector<Place> nodes(std::strtoul(nextLine(in).c_str(), nullptr, 10));
  for (Place& node : nodes) {
    const std::string line = nextLine(in);
    const std::size_t space = line.find(' ');
    node = {std::atoi(line.c_str()), line.substr(space + 1)};
  }
  std::vector<Place> byRank;
  for (std::string line; std::getline(in, line);) {
    char* rest = nullptr;
    const std::size_t count = std::strtoul(line.c_str(), &rest, 10);
    byRank.insert(byRank.end(), count, nodes.at(std::strtoul(rest, nullptr, 10)));
  }
  return byRank;
}

}  // namespace steptape::c10d::detail
