// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <utility>

namespace steptape::detail::server {

/// The bytes of a message, in pieces: the parts of a large answer need not be copied to stand one
/// behind the other, and each is freed when its last byte is taken.
///
/// @threads Not thread-safe: one thread at a time.
class Message {
 public:
  /// Returns the number of bytes that are left.
  std::size_t size() const { return size_; }

  /// Empty pieces are dropped.
  void append(std::string piece) {
    if (!piece.empty()) {
      size_ += piece.size();
      pieces_.push_back(std::move(piece));
    }
  }
  /// REQUIRES: nothing was taken.
  void prepend(std::string piece) {
    size_ += piece.size();
    pieces_.push_front(std::move(piece));
  }

  /// Copies the next bytes, at most `most`, and removes them.
  /// @return how many; fewer than `most` only if no more are left.
  std::size_t take(char* out, std::size_t most) {
    std::size_t copied = 0;
    while (copied < most && size_ > 0) {
      const std::string& piece = pieces_.front();
      const std::size_t count = std::min(most - copied, piece.size() - taken_);
      piece.copy(out + copied, count, taken_);
      copied += count;
      taken_ += count;
      size_ -= count;
      if (taken_ == piece.size()) {
        pieces_.pop_front();
        taken_ = 0;
      }
    }
    return copied;
  }

 private:
  std::deque<std::string> pieces_;
  std::size_t taken_ = 0;  ///< Of the first piece.
  std::size_t size_ = 0;
};

}  // namespace steptape::detail::server
