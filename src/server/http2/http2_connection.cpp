// SPDX-License-Identifier: Apache-2.0
#include "server/http2/http2_connection.h"

#include <cerrno>
#include <sys/socket.h>

namespace steptape::detail::server {
namespace {

/// Bytes that are given to the socket at once, and wait for it.
constexpr std::size_t kSendBytes = 256 << 10;
/// Bytes after which other connections have a turn.
constexpr std::size_t kTurnBytes = 2 << 20;
/// Frames, such as acknowledgments, that may wait for a client that does not read.
constexpr std::size_t kMaxQueuedFrames = 500;

bool wouldBlock(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

bool Http2Connection::wantsToReceive() const {
  return unsent_.empty() || session_.queuedFrames() < kMaxQueuedFrames;
}

bool Http2Connection::receive(Http2Buffers* buffers, Time now) {
  std::string& buffer = buffers->received;
  const ssize_t count = ::recv(socket_.number(), buffer.data(), buffer.size(), 0);
  if (count < 0) {
    return wouldBlock(errno);
  }
  if (count == 0) {
    return false;
  }
  progressed_ = now;
  if (session_.receive({buffer.data(), static_cast<std::size_t>(count)}, now)) {
    return true;
  }
  // Tells the client why. If it cannot be sent at once, the client does without.
  static_cast<void>(send(buffers, now));
  return false;
}

std::ptrdiff_t Http2Connection::sendBytes(std::string_view bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count =
        ::send(socket_.number(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      if (!wouldBlock(errno)) {
        return -1;
      }
      break;
    }
  }
  return static_cast<std::ptrdiff_t>(sent);
}

bool Http2Connection::send(Http2Buffers* buffers, Time now) {
  std::string& buffer = buffers->sending;
  wantsToSend_ = true;
  for (std::size_t turn = 0; turn < kTurnBytes;) {
    // What was left over comes first.
    buffer.assign(unsent_);
    if (!session_.fill(&buffer, kSendBytes)) {
      return false;
    }
    if (buffer.empty()) {
      wantsToSend_ = false;
      break;
    }
    const std::ptrdiff_t sent = sendBytes(buffer);
    if (sent < 0) {
      return false;
    }
    const auto size = static_cast<std::size_t>(sent);
    progressed_ = size > 0 ? now : progressed_;
    turn += size;
    if (size < buffer.size()) {
      unsent_.assign(buffer, size);
      break;
    }
    unsent_ = std::string();
  }
  return wantsToSend_ || !session_.hasEnded();
}

}  // namespace steptape::detail::server
