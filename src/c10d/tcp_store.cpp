// SPDX-License-Identifier: Apache-2.0
#include "c10d/tcp_store.h"

#include <cstdint>
#include <exception>
#include <future>
#include <netdb.h>
#include <sstream>
#include <sys/socket.h>
#include <thread>
#include <utility>
#include <vector>

#include "steptape/base/error.h"

#include "c10d/tcp_store_connection.h"
#include "c10d/torch_error_text.h"

namespace steptape::c10d::detail {
namespace {

using steptape::detail::Launch;

std::string seconds(std::chrono::milliseconds duration) {
  std::ostringstream text;
  text << std::chrono::duration<double>(duration).count() << " s";
  return text.str();
}

/// Waits until the name of a host resolves: where nodes start together, it may take a while.
void waitForName(const std::string& host, std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(host.c_str(), nullptr, &hints, &found);
    if (error == 0) {
      freeaddrinfo(found);
      return;
    }
    constexpr std::chrono::milliseconds kPause{200};
    if (std::chrono::steady_clock::now() + kPause > deadline) {
      throw Error(ErrorCode::kDeadlineExceeded, "the name of the host \"" + host +
                                                    "\" (MASTER_ADDR) did not resolve within " +
                                                    seconds(timeout) + ": " + gai_strerror(error));
    }
    std::this_thread::sleep_for(kPause);
  }
}

/// Runs `action` on another thread.
/// @throws what it throws; Error(kDeadlineExceeded) with `what` if it takes longer than `timeout`.
///         It then goes on.
template <typename Action>
auto runWithin(std::chrono::milliseconds timeout, const std::string& what, Action action) {
  std::packaged_task<std::invoke_result_t<Action>()> task(std::move(action));
  auto result = task.get_future();
  std::thread(std::move(task)).detach();
  if (result.wait_for(timeout) != std::future_status::ready) {
    throw Error(ErrorCode::kDeadlineExceeded, what + " did not answer within " + seconds(timeout));
  }
  return result.get();
}

c10::intrusive_ptr<::c10d::TCPStore> connect(const Launch& launch,
                                             std::chrono::milliseconds limit) {
  ::c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(launch.port);
  options.isServer = launch.rank == 0 && !launch.isServedByAgent;
  options.waitWorkers = false;
  options.timeout = limit;
  return c10::make_intrusive<::c10d::TCPStore>(launch.host, options);
}

}  // namespace

TcpStore::TcpStore(const Launch& launch, std::chrono::milliseconds timeout)
    : connection_(std::make_shared<Connection>()),
      timeout_(timeout),
      address_(launch.host + ":" + std::to_string(launch.port)) {
  const bool isServer = launch.rank == 0 && !launch.isServedByAgent;
  waitForName(launch.host, timeout);
  const std::string what = "the store at " + address_ + " (MASTER_ADDR:MASTER_PORT)";
  try {
    // LibTorch waits for an answer, then tries once more. A share of the time for each.
    connection_->store =
        runWithin(timeout, what, [launch, timeout] { return connect(launch, timeout / 3); });
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(isServer ? ErrorCode::kIoError : ErrorCode::kDeadlineExceeded,
                (isServer ? "rank 0 cannot serve " : "no answer from ") + what + " within " +
                    seconds(timeout) + ": " + torchErrorText(error.what()));
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

}  // namespace steptape::c10d::detail
