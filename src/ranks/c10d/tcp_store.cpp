// SPDX-License-Identifier: Apache-2.0
#include "ranks/c10d/tcp_store.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <future>
#include <netdb.h>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>
#include <sys/time.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "steptape/base/status.h"

#include "base/file_descriptor.h"
#include "base/got_expected.h"
#include "base/running_time.h"
#include "base/sigpipe_blocked.h"
#include "base/text.h"
#include "base/torch_error_text.h"
#include "ranks/c10d/deadline.h"
#include "ranks/c10d/tcp_store_connection.h"

namespace steptape::c10d::detail {
namespace {

using steptape::detail::base::commaSeparated;
using steptape::detail::base::FileDescriptor;
using steptape::detail::base::gotExpected;
using steptape::detail::base::torchErrorText;
using steptape::detail::process::canBeOfOneJob;
using steptape::detail::process::JobIdentity;
using steptape::detail::ranks::Launch;

constexpr std::chrono::milliseconds kBetweenTries{200};

/// Waits until the name of a host resolves: where nodes start together, it may take a while.
void waitForName(const std::string& host, std::chrono::milliseconds timeout) {
  Deadline deadline(timeout, kBetweenTries);
  int error = 0;
  do {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    error = getaddrinfo(host.c_str(), nullptr, &hints, &found);
    if (error == 0) {
      freeaddrinfo(found);
      return;
    }
  } while (deadline.pause());
  throw Error(ErrorCode::kDeadlineExceeded, "the name of the host \"" + host +
                                                "\" (MASTER_ADDR) did not resolve within " +
                                                secondsText(timeout) + ": " + gai_strerror(error));
}

/// Runs `action` on another thread.
/// @throws what it throws; Error(kDeadlineExceeded) with `what` if it takes longer than `timeout`.
///         It then goes on.
template <typename Action>
auto runWithin(std::chrono::milliseconds timeout, const std::string& what, Action action) {
  std::packaged_task<std::invoke_result_t<Action>()> task(std::move(action));
  auto result = task.get_future();
  std::thread(std::move(task)).detach();
  constexpr std::chrono::milliseconds kBetweenLooks{200};
  steptape::detail::base::RunningTime waited;
  waited.restart();
  while (result.wait_for(std::min(timeout, kBetweenLooks)) != std::future_status::ready) {
    if (waited.look() < timeout) {
      continue;
    }
    throw Error(ErrorCode::kDeadlineExceeded,
                what + " did not answer within " + secondsText(timeout));
  }
  return result.get();
}

using Store = c10::intrusive_ptr<::c10d::TCPStore>;

/// Which job the store is of: the encoded JobIdentity of its server.
constexpr const char* kJobKey = "steptape/job";

bool isServer(const Launch& launch) {
  return launch.rank == 0 && !launch.isServedByAgent;
}

std::string addressOf(const Launch& launch, int port) {
  return launch.host + ":" + std::to_string(port);
}

std::string nameOf(const std::string& address) {
  return "the store at " + address + " (MASTER_ADDR:MASTER_PORT)";
}

/// @param limit LibTorch waits for an answer this long, and then tries once more.
Store open(const Launch& launch, int port, bool serves, std::chrono::milliseconds limit) {
  const steptape::detail::base::SigpipeBlocked inThreadsOfServer;
  ::c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(port);
  options.isServer = serves;
  options.waitWorkers = false;
  options.timeout = limit;
  return c10::make_intrusive<::c10d::TCPStore>(launch.host, options);
}

std::vector<int> portsOf(const Launch& launch) {
  std::vector<int> ports{launch.port};
  ports.insert(ports.end(), launch.otherPorts.begin(), launch.otherPorts.end());
  return ports;
}

FileDescriptor openSocket(int domain) {
  return FileDescriptor(::socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

/// Returns whether a socket of this machine has the port. LibTorch would say so in many lines.
bool isTaken(int port) {
  const FileDescriptor socket = openSocket(AF_INET6);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(static_cast<std::uint16_t>(port));
  const int on = 1;
  ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // Without IPv6 the server finds out.
  return ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
             0 &&
         errno == EADDRINUSE;
}

/// Returns whether somebody listens at the port. LibTorch would wait for it.
bool hasListener(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    return false;
  }
  bool isConnected = false;
  for (const addrinfo* each = found; each != nullptr && !isConnected; each = each->ai_next) {
    const FileDescriptor socket = openSocket(each->ai_family);
    const timeval limit{1, 0};
    ::setsockopt(socket.number(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    isConnected = ::connect(socket.number(), each->ai_addr, each->ai_addrlen) == 0;
  }
  ::freeaddrinfo(found);
  return isConnected;
}

/// How long another service may take to answer as a store, and an earlier one to free its port.
constexpr std::chrono::milliseconds kForAnswer{2'000};
constexpr std::chrono::milliseconds kForPort{10'000};

/// A connection to somebody who may be a store of another job, or none.
struct Found {
  Store store;
  std::optional<JobIdentity> job;  ///< None if it is no store of Steptape.
};

Found look(const Launch& launch, int port) {
  if (!hasListener(launch.host, port)) {
    return {};
  }
  try {
    return runWithin(2 * kForAnswer, nameOf(addressOf(launch, port)), [launch, port]() -> Found {
      Found found{open(launch, port, /*serves=*/false, kForAnswer), std::nullopt};
      if (found.store->check({kJobKey})) {
        const std::vector<std::uint8_t> bytes = found.store->get(kJobKey);
        found.job = JobIdentity::decode(std::string(bytes.begin(), bytes.end()));
      }
      return found;
    });
  } catch (const std::exception&) {
    return {};
  }
}

[[noreturn]] void throwTaken(const Launch& launch, const Found& holder) {
  const std::string got = "a port that " + (holder.job ? "is held by " + holder.job->describe()
                                                       : std::string("another service holds"));
  throw Error(ErrorCode::kIoError,
              "rank 0 cannot serve " + nameOf(addressOf(launch, launch.port)) + ": " +
                  gotExpected(got, launch.otherPorts.empty()
                                       ? "a MASTER_PORT of its own for each job"
                                       : "one of " + std::to_string(portsOf(launch).size()) +
                                             " ports that is free, or MASTER_PORT"));
}

}  // namespace

void TcpStore::serve(const Launch& launch) {
  Deadline deadline(std::min(kForPort, timeout_ / 3));
  bool hasLooked = false;
  do {
    for (const int port : portsOf(launch)) {
      if (isTaken(port)) {
        continue;
      }
      address_ = addressOf(launch, port);
      connection_->store =
          runWithin(timeout_, nameOf(address_), [launch, port, limit = timeout_ / 3] {
            return open(launch, port, /*serves=*/true, limit);
          });
      set(kJobKey, launch.job.encode());
      return;
    }
    // The other ranks of this job end as soon as the store of another one refuses them. Rank 0 must
    // not wait until that job frees the port, and then for them.
    if (!std::exchange(hasLooked, true)) {
      const Found holder = look(launch, launch.port);
      if (launch.otherPorts.empty() && holder.job && !canBeOfOneJob(*holder.job, launch.job)) {
        throwTaken(launch, holder);
      }
    }
  } while (deadline.pause());
  throwTaken(launch, look(launch, launch.port));
}

void TcpStore::connect(const Launch& launch) {
  if (launch.otherPorts.empty()) {
    connection_->store = runWithin(timeout_, nameOf(address_), [launch, limit = timeout_ / 3] {
      return open(launch, launch.port, /*serves=*/false, limit);
    });
    return;
  }
  Deadline deadline(timeout_, kBetweenTries);
  do {
    for (const int port : portsOf(launch)) {
      const Found found = look(launch, port);
      if (found.job && canBeOfOneJob(*found.job, launch.job)) {
        address_ = addressOf(launch, port);
        connection_->store = found.store;
        return;
      }
    }
  } while (deadline.pause());
  throw Error(ErrorCode::kDeadlineExceeded, "no answer from " + nameOf(address_) + " within " +
                                                secondsText(timeout_) + ", nor at the ports " +
                                                commaSeparated(launch.otherPorts) +
                                                " from rank 0 of this job");
}

TcpStore::TcpStore(const Launch& launch, std::chrono::milliseconds timeout)
    : connection_(std::make_shared<Connection>()),
      timeout_(timeout),
      address_(addressOf(launch, launch.port)) {
  waitForName(launch.host, timeout);
  try {
    if (isServer(launch)) {
      serve(launch);
    } else {
      connect(launch);
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(isServer(launch) ? ErrorCode::kIoError : ErrorCode::kDeadlineExceeded,
                (isServer(launch) ? "rank 0 cannot serve " : "no answer from ") + nameOf(address_) +
                    " within " + secondsText(timeout) + ": " + torchErrorText(error.what()));
  }
}

TcpStore::~TcpStore() = default;

template <typename Action>
auto TcpStore::ask(Action action) {
  try {
    return runWithin(timeout_, "the store at " + address_,
                     [connection = connection_, action = std::move(action)] {
                       return action(*connection->store);
                     });
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kDeadlineExceeded, "the connection to the store at " + address_ +
                                                  " was lost: " + torchErrorText(error.what()));
  }
}

void TcpStore::set(const std::string& key, std::string_view value) {
  ask([key, bytes = std::vector<std::uint8_t>(value.begin(), value.end())](
          ::c10d::TCPStore& store) { store.set(key, bytes); });
}

bool TcpStore::tryGet(const std::string& key, std::string& value) {
  const std::vector<std::uint8_t> bytes = ask([key](::c10d::TCPStore& store) {
    // One byte more, since an empty value is not a missing one.
    if (!store.check({key})) {
      return std::vector<std::uint8_t>();
    }
    std::vector<std::uint8_t> found = store.get(key);
    found.push_back(0);
    return found;
  });
  if (bytes.empty()) {
    return false;
  }
  value.assign(bytes.begin(), bytes.end() - 1);
  return true;
}

void TcpStore::remove(const std::string& key) {
  ask([key](::c10d::TCPStore& store) { store.deleteKey(key); });
}

std::int64_t TcpStore::add(const std::string& key, std::int64_t amount) {
  return ask([key, amount](::c10d::TCPStore& store) { return store.add(key, amount); });
}

}  // namespace steptape::c10d::detail
