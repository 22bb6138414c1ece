// SPDX-License-Identifier: Apache-2.0
#include "ranks/engine/protocol.h"

#include "steptape/base/status.h"
#include "steptape/base/version.h"

#include "base/got_expected.h"

namespace steptape::detail::ranks {
namespace {

/// Raise it when messages or the shared memory of a node change within a version.
constexpr int kProtocol = 3;

}  // namespace

std::string protocolText() {
  return "Steptape " STEPTAPE_VERSION ", protocol " + std::to_string(kProtocol);
}

void throwStartMismatch(int rank, const std::string& host, const std::string& got,
                        const std::string& expected) {
  throw Error(ErrorCode::kRankMismatch,
              "the start of the job: rank " + std::to_string(rank) + " (" + host +
                  "): " + base::gotExpected(got, expected + " as rank 0"));
}

}  // namespace steptape::detail::ranks
