// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

#include "server/grpc/grpc_server.h"
#include "server/provider/sample_limits.h"
#include "server/store/log_store.h"

namespace steptape::tools {

/// What a data server serves, and where.
struct DataServerOptions {
  steptape::detail::server::LogStoreOptions store;
  steptape::detail::server::GrpcServerOptions listen;
  steptape::detail::server::SampleLimits limits;
  std::string portFile;  ///< Gets the port and a newline; empty: none.
};

/// Returns the time between two looks. @throws Error(kInvalidArgument) unless `text` is a positive
/// number of seconds.
std::chrono::milliseconds reloadPeriod(const std::string& text);

/// Returns how many threads read: as many as there are cores for this process, at most eight.
int readingThreads();

/// The port file cannot be written.
class PortFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Serves log directories to TensorBoard until SIGINT, SIGTERM, or the end of stdin if asked for.
///
/// Listens and writes the port file before it looks at the directories: TensorBoard waits for it.
///
/// @param started Called with the port before anything is served; may be empty.
/// @throws Error(kIoError) if it cannot listen; PortFileError.
void runDataServer(const DataServerOptions& options,
                   const std::function<void(std::uint16_t port)>& started);

}  // namespace steptape::tools
