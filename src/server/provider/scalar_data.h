// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "server/grpc/service.h"
#include "server/store/served_run.h"

namespace steptape::detail::server {

/// Returns at most `most` points of a tag as a tensorboard.data.ScalarData; see chooseScalars().
/// REQUIRES: it has scalars.
std::string encodeScalarData(const TagView& tag, std::size_t most);

/// A ReadScalarsResponse, which becomes bytes when it is wanted.
///
/// By hand, as encodeScalarData(), and in pieces: half of the time of an answer was in adding half
/// a million points to a message one by one, and in filling and copying its bytes.
class ScalarsAnswer final : public Answer {
 public:
  /// Adds a tag, and returns where its ScalarData goes. Tags of one run come one after the other.
  std::string* add(std::string_view run, std::string_view tag);

  bool next(Message* message, CallStatus* status) override;

 private:
  struct Tag {
    std::string name;
    std::string data;
  };
  struct Run {
    std::string name;
    std::deque<Tag> tags;
  };

  std::deque<Run> runs_;
  bool isTaken_ = false;
};

}  // namespace steptape::detail::server
