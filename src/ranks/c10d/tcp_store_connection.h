// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ranks/c10d/tcp_store.h"

#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace steptape::c10d::detail {

struct TcpStore::Connection {
  c10::intrusive_ptr<::c10d::TCPStore> store;
};

}  // namespace steptape::c10d::detail
