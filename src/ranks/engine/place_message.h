// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "ranks/communicator/group_map.h"
#include "ranks/engine/protocol.h"

namespace steptape::detail::ranks {

/// What each rank tells the others when a job starts. Its size must stay, because ranks of other
/// versions receive it.
struct PlaceMessage {
  int nodeId = 0;
  std::array<char, 84> nodeName{};
  std::array<char, 40> protocol{};

  /// Returns the message of a rank of this version.
  static PlaceMessage of(const GroupMap::Place& place) {
    PlaceMessage message;
    message.nodeId = place.nodeId;
    copy(place.nodeName, &message.nodeName);
    copy(protocolText(), &message.protocol);
    return message;
  }

 private:
  template <std::size_t kSize>
  static void copy(const std::string& text, std::array<char, kSize>* to) {
    std::copy_n(text.begin(), std::min(text.size(), kSize - 1), to->begin());
  }
};
static_assert(sizeof(PlaceMessage) == 128);

/// Returns the map of the ranks that have sent these messages.
/// @throws Error(kRankMismatch) if one has another version.
inline GroupMap groupMapOf(const std::vector<PlaceMessage>& messages, int rank) {
  std::vector<GroupMap::Place> places;
  places.reserve(messages.size());
  for (const PlaceMessage& message : messages) {
    if (message.protocol != messages.front().protocol) {
      throwStartMismatch(static_cast<int>(places.size()), message.nodeName.data(),
                         message.protocol.data(), messages.front().protocol.data());
    }
    places.push_back({message.nodeId, message.nodeName.data()});
  }
  return GroupMap(std::move(places), rank);
}

}  // namespace steptape::detail::ranks
