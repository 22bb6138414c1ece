// SPDX-License-Identifier: Apache-2.0
#include "storage/loopback_server.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cctype>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>
#include <utility>

#include <gtest/gtest.h>

namespace steptape::test {
namespace {

constexpr int kForever = -1;
constexpr const char* kEndOfLine = "\r\n";

std::string inLowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string withoutSpaces(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(begin);
  return std::string(text.substr(0, text.find_last_not_of(" \t") + 1));
}

/// Waits until the client, or the server's end, closes the connection.
/// @return whether that happened before the timeout.
bool waitForClose(int socket, int timeoutMs) {
  pollfd polled{socket, POLLRDHUP, 0};
  return ::poll(&polled, 1, timeoutMs) != 0;
}

bool sendAll(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool receiveMore(int socket, std::string* received) {
  std::array<char, 1 << 16> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), 0);
  if (count <= 0) {
    return false;
  }
  received->append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

/// Takes the next bytes; receives until there are enough.
bool take(int socket, std::size_t count, std::string* received, std::string* taken) {
  while (received->size() < count) {
    if (!receiveMore(socket, received)) {
      return false;
    }
  }
  *taken = received->substr(0, count);
  received->erase(0, count);
  return true;
}

/// Takes the text up to an end, and the end.
bool takeUntil(int socket, std::string_view end, std::string* received, std::string* taken) {
  std::size_t found = received->find(end);
  for (; found == std::string::npos; found = received->find(end)) {
    if (!receiveMore(socket, received)) {
      return false;
    }
  }
  *taken = received->substr(0, found);
  received->erase(0, found + end.size());
  return true;
}

LoopbackRequest requestOf(const std::string& head) {
  LoopbackRequest request;
  std::size_t line = head.find(kEndOfLine);
  const std::string first = head.substr(0, line);
  const std::size_t space = first.find(' ');
  request.method = first.substr(0, space);
  request.target = first.substr(space + 1, first.rfind(' ') - space - 1);
  while (line != std::string::npos) {
    const std::size_t begin = line + 2;
    line = head.find(kEndOfLine, begin);
    const std::string text = head.substr(begin, line - begin);
    const std::size_t colon = text.find(':');
    if (colon != std::string::npos) {
      request.headers[inLowerCase(text.substr(0, colon))] = withoutSpaces(text.substr(colon + 1));
    }
  }
  return request;
}

bool takeChunks(int socket, std::string* received, std::string* body) {
  for (;;) {
    std::string size;
    std::string chunk;
    std::string end;
    if (!takeUntil(socket, kEndOfLine, received, &size) ||
        !take(socket, std::stoul(size, nullptr, 16), received, &chunk) ||
        !takeUntil(socket, kEndOfLine, received, &end)) {
      return false;
    }
    if (chunk.empty()) {
      return true;
    }
    *body += chunk;
  }
}

bool takeBody(int socket, std::string* received, LoopbackRequest* request) {
  if (inLowerCase(request->header("expect")) == "100-continue" &&
      !sendAll(socket, "HTTP/1.1 100 Continue\r\n\r\n")) {
    return false;
  }
  if (inLowerCase(request->header("transfer-encoding")) == "chunked") {
    return takeChunks(socket, received, &request->body);
  }
  const std::string length = request->header("content-length");
  return take(socket, length.empty() ? 0 : std::stoul(length), received, &request->body);
}

/// @return whether the connection goes on.
bool obey(int socket, LoopbackEnding ending) {
  if (ending == LoopbackEnding::kHang) {
    waitForClose(socket, kForever);
  }
  return ending == LoopbackEnding::kGoOn;
}

bool sendAnswer(int socket, const LoopbackRequest& request, const LoopbackAnswer& answer) {
  std::string head = "HTTP/1.1 " + std::to_string(answer.status) + " Answer\r\n";
  if (answer.status != 204 && answer.status != 304) {
    head += "Content-Length: " + std::to_string(answer.body.size()) + kEndOfLine;
  }
  for (const std::string& header : answer.headers) {
    head += header + kEndOfLine;
  }
  if (!sendAll(socket, head + kEndOfLine)) {
    return false;
  }
  if (request.method == "HEAD") {
    return true;
  }
  const std::string_view body = std::string_view(answer.body).substr(0, answer.sentBytes);
  if (answer.pause.count() == 0) {
    return sendAll(socket, body);
  }
  for (const char& byte : body) {
    if (waitForClose(socket, static_cast<int>(answer.pause.count())) ||
        !sendAll(socket, {&byte, 1})) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string LoopbackRequest::header(const std::string& lowerCaseName) const {
  const auto found = headers.find(lowerCaseName);
  return found == headers.end() ? std::string() : found->second;
}

LoopbackAnswer LoopbackAnswer::hang() {
  LoopbackAnswer answer;
  answer.sendsHead = false;
  answer.ending = LoopbackEnding::kHang;
  return answer;
}

LoopbackAnswer LoopbackAnswer::close() {
  LoopbackAnswer answer;
  answer.sendsHead = false;
  answer.ending = LoopbackEnding::kClose;
  return answer;
}

LoopbackServer::LoopbackServer(Handler handler, BodyRule bodyRule)
    : handler_(std::move(handler)),
      bodyRule_(std::move(bodyRule)),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(listener_.number(), generic, size), 0);
  EXPECT_EQ(::listen(listener_.number(), SOMAXCONN), 0);
  EXPECT_EQ(::getsockname(listener_.number(), generic, &size), 0);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { acceptAll(); });
}

LoopbackServer::~LoopbackServer() {
  ::shutdown(listener_.number(), SHUT_RDWR);
  acceptor_.join();
  std::list<Connection> connections;
  {
    const detail::base::MutexLock lock(mutex_);
    connections.swap(connections_);
  }
  for (Connection& connection : connections) {
    ::shutdown(connection.socket.number(), SHUT_RDWR);
  }
  for (Connection& connection : connections) {
    connection.thread.join();
  }
}

void LoopbackServer::change(const std::function<void()>& function) {
  const detail::base::MutexLock lock(handling_);
  function();
}

std::vector<LoopbackRequest> LoopbackServer::requests() const {
  const detail::base::MutexLock lock(mutex_);
  return requests_;
}

void LoopbackServer::waitForRequests(std::size_t count) const {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  const detail::base::MutexLock lock(mutex_);
  while (requests_.size() < count) {
    if (!changed_.waitUntil(mutex_, end)) {
      ADD_FAILURE() << "got " << requests_.size() << " requests; expected " << count;
      return;
    }
  }
}

std::size_t LoopbackServer::connections() const {
  const detail::base::MutexLock lock(mutex_);
  return connections_.size();
}

void LoopbackServer::acceptAll() {
  for (;;) {
    detail::base::FileDescriptor socket(
        ::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.isOpen()) {
      return;
    }
    const int number = socket.number();
    const int noDelay = 1;  // of a body behind its head
    EXPECT_EQ(::setsockopt(number, IPPROTO_TCP, TCP_NODELAY, &noDelay, sizeof(noDelay)), 0);
    const detail::base::MutexLock lock(mutex_);
    connections_.push_back({std::move(socket), std::thread([this, number] { serve(number); })});
  }
}

void LoopbackServer::serve(int socket) {
  std::string received;
  while (serveNext(socket, &received)) {
  }
  // The file descriptor stays until the end, because the destructor uses it.
  ::shutdown(socket, SHUT_RDWR);
}

bool LoopbackServer::serveNext(int socket, std::string* received) {
  std::string head;
  if (!takeUntil(socket, "\r\n\r\n", received, &head)) {
    return false;
  }
  LoopbackRequest request = requestOf(head);
  LoopbackEnding instead = LoopbackEnding::kGoOn;
  if (bodyRule_) {
    const detail::base::MutexLock lock(handling_);
    instead = bodyRule_(request);
  }
  if (instead != LoopbackEnding::kGoOn) {
    note(request);
    return obey(socket, instead);
  }
  if (!takeBody(socket, received, &request)) {
    return false;
  }
  LoopbackAnswer answer;
  {
    const detail::base::MutexLock lock(handling_);
    answer = handler_(request);
  }
  note(request);
  return (!answer.sendsHead || sendAnswer(socket, request, answer)) && obey(socket, answer.ending);
}

void LoopbackServer::note(const LoopbackRequest& request) {
  const detail::base::MutexLock lock(mutex_);
  requests_.push_back(request);
  changed_.notifyAll();
}

}  // namespace steptape::test
