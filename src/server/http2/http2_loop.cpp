// SPDX-License-Identifier: Apache-2.0
#include "server/http2/http2_loop.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <new>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <system_error>
#include <tuple>
#include <unistd.h>
#include <utility>

#include "steptape/base/status.h"

#include "base/got_expected.h"

namespace steptape::detail::server {
namespace {

// What an event belongs to.
constexpr std::uint64_t kStopKey = 0;
constexpr std::uint64_t kWakeKey = 1;
constexpr std::uint64_t kStdinKey = 2;
constexpr std::uint64_t kFirstListenerKey = 3;
constexpr std::uint64_t kFirstConnectionKey = 1'000;

/// No stream has this number.
constexpr std::int32_t kAllStreams = 0;

constexpr std::size_t kMaxConnections = 128;
/// For TensorBoard, also where the process may have few descriptors.
constexpr std::size_t kMinConnections = 8;

/// Until a client has sent what HTTP/2 begins with.
constexpr std::chrono::seconds kPatienceForBegin{10};
/// Of a client without open answers, while others wait. It connects again when it needs to.
constexpr std::chrono::seconds kPatienceForIdle{2};
/// Of a client with open answers that takes none of their bytes, while others wait.
constexpr std::chrono::seconds kPatienceForStalled{60};
/// Until a client that was asked to end its connection has done so.
constexpr std::chrono::seconds kPatienceForEnd{1};
/// Between looks at the patience, and for a free descriptor.
constexpr int kLookMilliseconds = 250;

std::size_t connectionLimit() {
  rlimit descriptors{};
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) != 0) {
    return kMaxConnections;
  }
  return std::clamp<std::size_t>(descriptors.rlim_cur / 2, kMinConnections, kMaxConnections);
}

base::FileDescriptor makeEpoll() {
  base::FileDescriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.isOpen()) {
    throw Error(ErrorCode::kIoError,
                "epoll_create1: " + base::gotExpected(std::generic_category().message(errno),
                                                      "a free file descriptor (see ulimit -n)"));
  }
  return epoll;
}

bool meansNoDescriptors(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

Http2Loop::Watched::Watched(base::FileDescriptor socket, std::uint64_t id, Http2Loop* loop)
    : connection(std::move(socket), id, loop->handler_, &loop->memory_, loop->now_),
      events(EPOLLIN) {}

Http2Loop::Http2Loop(Http2Server* server, Http2Handler* handler, bool endsWithStdin)
    : server_(server),
      handler_(handler),
      epoll_(makeEpoll()),
      maxConnections_(connectionLimit()),
      nextId_(kFirstConnectionKey),
      now_(std::chrono::steady_clock::now()) {
  watch(server_->stopping_.number(), kStopKey);
  watch(server_->waking_.number(), kWakeKey);
  if (endsWithStdin) {
    watchStdin();
  }
  setAccepting(true);
}

void Http2Loop::watch(int descriptor, std::uint64_t key) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = key;
  if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
    throw Error(ErrorCode::kIoError,
                "epoll_ctl: " + base::gotExpected(std::generic_category().message(errno),
                                                  "a descriptor that can be watched"));
  }
}

void Http2Loop::watchStdin() {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kStdinKey;
  if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, STDIN_FILENO, &event) == 0) {
    return;
  }
  // A file or /dev/null, whose end is always near, or closed.
  std::array<char, 4096> ignored;
  while (::read(STDIN_FILENO, ignored.data(), ignored.size()) > 0) {
  }
  isStopping_ = true;
}

void Http2Loop::readStdin() {
  std::array<char, 4096> ignored;
  const ssize_t count = ::read(STDIN_FILENO, ignored.data(), ignored.size());
  if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
    isStopping_ = true;
  }
}

void Http2Loop::run() {
  std::array<epoll_event, 64> events;
  while (!isStopping_) {
    const int count = ::epoll_wait(epoll_.number(), events.data(), static_cast<int>(events.size()),
                                   millisecondsToWait());
    now_ = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) {
      handle(events[static_cast<std::size_t>(i)].data.u64,
             events[static_cast<std::size_t>(i)].events);
    }
    endOverdueConnections();
    if (!isAccepting_) {
      makeRoom();
      resumeAcceptingIfPossible();
    }
  }
  for (auto& [id, watched] : connections_) {
    watched.connection.beginEnd(now_);
    // The client learns that it may ask another server. It does without if it does not read.
    static_cast<void>(watched.connection.send(&buffers_, now_));
  }
}

void Http2Loop::handle(std::uint64_t key, std::uint32_t events) {
  if (key >= kFirstConnectionKey) {
    handleConnection(key, events);
  } else if (key == kStopKey) {
    isStopping_ = true;
  } else if (key == kWakeKey) {
    handleWoken();
  } else if (key == kStdinKey) {
    readStdin();
  } else {
    accept(server_->listeners_.sockets[key - kFirstListenerKey].number());
  }
}

void Http2Loop::handleWoken() {
  const Http2Server::Woken woken = server_->takeWoken();
  for (const Http2StreamId& id : woken.streams) {
    const auto found = connections_.find(id.connection);
    if (found != connections_.end()) {
      wake(found, id.stream);
    }
  }
  for (auto next = connections_.begin(); woken.isAll && next != connections_.end();) {
    const auto found = next++;
    wake(found, kAllStreams);
  }
}

void Http2Loop::wake(Connections::iterator found, std::int32_t stream) {
  Http2Session& session = found->second.connection.session();
  try {
    if (stream == kAllStreams) {
      session.wakeAll();
    } else {
      session.wake(stream);
    }
  } catch (const std::bad_alloc&) {
    connections_.erase(found);
    return;
  }
  advance(found);
}

void Http2Loop::handleConnection(std::uint64_t id, std::uint32_t events) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) {
    return;
  }
  bool isOpen = true;
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
    try {
      isOpen = found->second.connection.receive(&buffers_, now_);
    } catch (const std::bad_alloc&) {
      isOpen = false;
    }
  }
  if (isOpen) {
    advance(found);
  } else {
    connections_.erase(found);
  }
}

void Http2Loop::advance(Connections::iterator found) {
  Http2Connection& connection = found->second.connection;
  bool isOpen = false;
  try {
    isOpen = connection.send(&buffers_, now_);
  } catch (const std::bad_alloc&) {
    // Ends the connection.
  }
  if (!isOpen) {
    connections_.erase(found);
    return;
  }
  const std::uint32_t events =
      (connection.wantsToReceive() ? EPOLLIN : 0U) | (connection.wantsToSend() ? EPOLLOUT : 0U);
  if (events != found->second.events) {
    found->second.events = events;
    epoll_event event{};
    event.events = events;
    event.data.u64 = found->first;
    static_cast<void>(::epoll_ctl(epoll_.number(), EPOLL_CTL_MOD, connection.descriptor(), &event));
  }
}

void Http2Loop::accept(int listener) {
  base::FileDescriptor socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.isOpen()) {
    if (meansNoDescriptors(errno)) {
      pauseAccepting();
    }
    return;
  }
  const int descriptor = socket.number();
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const std::uint64_t id = nextId_++;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = id;
  if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
    return;
  }
  try {
    const auto added = connections_.emplace(std::piecewise_construct, std::forward_as_tuple(id),
                                            std::forward_as_tuple(std::move(socket), id, this));
    advance(added.first);
  } catch (const std::bad_alloc&) {
    // The client finds its connection closed.
  }
  if (connections_.size() >= maxConnections_) {
    pauseAccepting();
  }
}

void Http2Loop::pauseAccepting() {
  setAccepting(false);
  connectionsAtPause_ = connections_.size();
  pauseEnd_ = now_ + std::chrono::milliseconds(kLookMilliseconds);
}

void Http2Loop::resumeAcceptingIfPossible() {
  const bool hasRoom = connections_.size() < maxConnections_;
  if (!isAccepting_ && hasRoom &&
      (connections_.size() < connectionsAtPause_ || now_ >= pauseEnd_)) {
    setAccepting(true);
  }
}

bool Http2Loop::areClientsWaiting() const {
  return std::any_of(server_->listeners_.sockets.begin(), server_->listeners_.sockets.end(),
                     [](const base::FileDescriptor& listener) {
                       pollfd waiting{listener.number(), POLLIN, 0};
                       return ::poll(&waiting, 1, 0) > 0;
                     });
}

void Http2Loop::setAccepting(bool isAccepting) {
  if (isAccepting == isAccepting_) {
    return;
  }
  isAccepting_ = isAccepting;
  std::uint64_t key = kFirstListenerKey;
  for (const base::FileDescriptor& listener : server_->listeners_.sockets) {
    if (isAccepting) {
      watch(listener.number(), key++);
    } else {
      ::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, listener.number(), nullptr);
    }
  }
}

void Http2Loop::endOverdueConnections() {
  for (auto at = connections_.begin(); at != connections_.end();) {
    const Http2Connection& connection = at->second.connection;
    const bool isOverdue = connection.isEnding()
                               ? now_ - connection.endBegun() > kPatienceForEnd
                               : !connection.session().isEstablished() &&
                                     now_ - connection.begun() > kPatienceForBegin;
    at = isOverdue ? connections_.erase(at) : std::next(at);
  }
}

void Http2Loop::makeRoom() {
  auto idlest = connections_.end();
  for (auto at = connections_.begin(); at != connections_.end(); ++at) {
    const Http2Connection& connection = at->second.connection;
    if (connection.isEnding()) {
      return;  // One at a time: it makes room soon.
    }
    const auto patience =
        connection.session().openAnswers() == 0 ? kPatienceForIdle : kPatienceForStalled;
    if (now_ - connection.progressed() > patience &&
        (idlest == connections_.end() ||
         connection.progressed() < idlest->second.connection.progressed())) {
      idlest = at;
    }
  }
  if (idlest != connections_.end() && areClientsWaiting()) {
    idlest->second.connection.beginEnd(now_);
    advance(idlest);
  }
}

int Http2Loop::millisecondsToWait() const {
  const bool looks =
      !isAccepting_ || std::any_of(connections_.begin(), connections_.end(), [](const auto& entry) {
        const Http2Connection& connection = entry.second.connection;
        return connection.isEnding() || !connection.session().isEstablished();
      });
  return looks ? kLookMilliseconds : -1;
}

}  // namespace steptape::detail::server
