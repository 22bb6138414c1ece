// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_descriptor.h"

namespace steptape::detail::server {

/// Sockets that listen at one port.
struct Listeners {
  std::vector<base::FileDescriptor> sockets;  ///< Non-blocking.
  std::uint16_t port = 0;
};

/// Listens at `host`: "localhost" is 127.0.0.1 and, where there is one, ::1. Numbers and
/// "localhost" ask no name server.
///
/// @param port 0: one that is free.
/// @throws Error(kIoError) naming host, port and the reason.
Listeners listenAt(const std::string& host, std::uint16_t port);

}  // namespace steptape::detail::server
