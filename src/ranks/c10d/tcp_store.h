// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "ranks/c10d/key_store.h"
#include "ranks/communicator/launch.h"

namespace steptape::c10d::detail {

/// LibTorch's store, on a server in the process of rank 0 or of the launcher.
class TcpStore final : public KeyStore {
 public:
  /// Starts the server if this rank is to serve it, and connects to it.
  ///
  /// A port that nobody chose may be that of another job's store, or of another service: then the
  /// server takes the next one of `launch.otherPorts`, and the clients look for a store of their
  /// job at each.
  ///
  /// @param timeout How long to wait for the server, and later for each answer.
  /// @throws Error(kDeadlineExceeded) if the server does not answer, or its name does not resolve;
  ///         Error(kIoError) if this rank cannot serve.
  TcpStore(const steptape::detail::ranks::Launch& launch, std::chrono::milliseconds timeout);
  ~TcpStore() override;

  void set(const std::string& key, std::string_view value) override;
  bool tryGet(const std::string& key, std::string& value) override;
  void remove(const std::string& key) override;
  std::int64_t add(const std::string& key, std::int64_t amount) override;

  /// Returns "host:port", of the port that was taken.
  const std::string& address() const { return address_; }
  /// LibTorch's object; see tcp_store_connection.h.
  struct Connection;
  const Connection& connection() const { return *connection_; }

 private:
  void serve(const steptape::detail::ranks::Launch& launch);
  void connect(const steptape::detail::ranks::Launch& launch);
  /// Calls `action` with the store on another thread, and waits for it no longer than the timeout.
  template <typename Action>
  auto ask(Action action);

  std::shared_ptr<Connection> connection_;  // outlives this object while a call hangs
  std::chrono::milliseconds timeout_;
  std::string address_;
};

}  // namespace steptape::c10d::detail
