// SPDX-License-Identifier: Apache-2.0
#include "server/http2/http2_server.h"

#include <cerrno>
#include <new>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "steptape/base/status.h"

#include "base/got_expected.h"
#include "server/http2/http2_loop.h"

namespace steptape::detail::server {
namespace {

base::FileDescriptor makeEvent() {
  base::FileDescriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.isOpen()) {
    throw Error(ErrorCode::kIoError,
                "eventfd: " + base::gotExpected(std::generic_category().message(errno),
                                                "a free file descriptor (see ulimit -n)"));
  }
  return event;
}

/// @threads Safe in a signal handler.
void signalEvent(const base::FileDescriptor& event) noexcept {
  const int before = errno;
  const std::uint64_t one = 1;
  // Fails only if it is signaled already.
  static_cast<void>(::write(event.number(), &one, sizeof one) == sizeof one);
  errno = before;
}

}  // namespace

Http2Server::Http2Server(const std::string& host, std::uint16_t port)
    : listeners_(listenAt(host, port)), stopping_(makeEvent()), waking_(makeEvent()) {}

void Http2Server::run(Http2Handler* handler, bool endsWithStdin) {
  Http2Loop(this, handler, endsWithStdin).run();
}

void Http2Server::stop() noexcept {
  signalEvent(stopping_);
}

void Http2Server::wake(const Http2StreamId& id) noexcept {
  {
    const base::MutexLock lock(mutex_);
    try {
      woken_.streams.push_back(id);
    } catch (const std::bad_alloc&) {
      woken_.isAll = true;
    }
  }
  signalEvent(waking_);
}

Http2Server::Woken Http2Server::takeWoken() {
  std::uint64_t count = 0;
  static_cast<void>(::read(waking_.number(), &count, sizeof count) == sizeof count);
  const base::MutexLock lock(mutex_);
  return std::exchange(woken_, {});
}

}  // namespace steptape::detail::server
