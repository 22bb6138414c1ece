// SPDX-License-Identifier: Apache-2.0
#include "server/http2/listeners.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <system_error>
#include <utility>

#include "steptape/base/status.h"

#include "base/got_expected.h"

namespace steptape::detail::server {
namespace {

/// Connections that wait for accept().
constexpr int kBacklog = 128;
/// A port that is free for one address may be taken for the other.
constexpr int kPortAttempts = 16;

/// An address of either family.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
  in_port_t& port() {
    return family() == AF_INET ? reinterpret_cast<sockaddr_in*>(&storage)->sin_port
                               : reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port;
  }
};

Address addressOf(const sockaddr* address, socklen_t size) {
  Address copy;
  std::memcpy(&copy.storage, address, size);
  copy.size = size;
  return copy;
}

/// Returns the address that a number stands for; of size 0 if `host` is none.
Address numericAddress(const std::string& host) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    return addressOf(reinterpret_cast<const sockaddr*>(&v4), sizeof v4);
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
    return addressOf(reinterpret_cast<const sockaddr*>(&v6), sizeof v6);
  }
  return {};
}

[[noreturn]] void failToListen(const std::string& host, std::uint16_t port, const std::string& got,
                               const std::string& expected) {
  throw Error(ErrorCode::kIoError, "listen at host " + base::quoted(host) + ", port " +
                                       std::to_string(port) + ": " +
                                       base::gotExpected(got, expected));
}

/// The resolver's answers. Only for names, since it takes longer than the rest of a server's start.
std::vector<Address> resolve(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int result = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  if (result != 0) {
    failToListen(host, port,
                 result == EAI_SYSTEM ? std::generic_category().message(errno)
                                      : std::string(::gai_strerror(result)),
                 "\"localhost\", or a name or an address of this machine");
  }
  std::vector<Address> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    addresses.push_back(addressOf(one->ai_addr, one->ai_addrlen));
  }
  return addresses;
}

std::vector<Address> addressesOf(const std::string& host, std::uint16_t port) {
  if (host == "localhost") {
    return {numericAddress("127.0.0.1"), numericAddress("::1")};
  }
  const Address number = numericAddress(host);
  return number.size != 0 ? std::vector<Address>{number} : resolve(host, port);
}

/// Sets `port` to the socket's. @return a closed one on failure, with the reason in errno.
base::FileDescriptor listenAtAddress(Address address, bool isOnlyOne, std::uint16_t* port) {
  base::FileDescriptor socket(
      ::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.isOpen()) {
    return {};
  }
  const int on = 1;
  // For a server that is started again at the port of one that has just ended.
  ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.family() == AF_INET6 && !isOnlyOne) {
    // The IPv4 addresses have sockets of their own.
    ::setsockopt(socket.number(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  address.port() = htons(*port);
  if (::bind(socket.number(), address.get(), address.size) != 0 ||
      ::listen(socket.number(), kBacklog) != 0 ||
      ::getsockname(socket.number(), address.get(), &address.size) != 0) {
    return {};
  }
  *port = ntohs(address.port());
  return socket;
}

/// Whether a machine without this family of addresses fails so.
bool meansNoSuchAddress(int error) {
  return error == EAFNOSUPPORT || error == EADDRNOTAVAIL || error == EPROTONOSUPPORT;
}

}  // namespace

Listeners listenAt(const std::string& host, std::uint16_t port) {
  const std::vector<Address> addresses = addressesOf(host, port);
  int error = 0;
  for (int attempt = 0; attempt < kPortAttempts; ++attempt) {
    Listeners listeners;
    listeners.port = port;
    error = 0;
    int missing = 0;
    for (const Address& address : addresses) {
      base::FileDescriptor socket =
          listenAtAddress(address, addresses.size() == 1, &listeners.port);
      if (socket.isOpen()) {
        listeners.sockets.push_back(std::move(socket));
      } else if (meansNoSuchAddress(errno)) {
        missing = errno;
      } else {
        error = errno;
        break;
      }
    }
    if (error == 0 && !listeners.sockets.empty()) {
      return listeners;
    }
    error = error != 0 ? error : missing;
    if (port != 0 || error != EADDRINUSE) {
      break;
    }
  }
  failToListen(host, port, std::generic_category().message(error),
               error == EADDRINUSE ? "a port that no other program uses"
                                   : "an address of this machine and a port that may be used");
}

}  // namespace steptape::detail::server
