// SPDX-License-Identifier: Apache-2.0
// Fuzzes bytes as what follows the header of a rank's state, whose checksum no fuzzer finds: they
// give an error or a state of bounded size.
#include <string>
#include <string_view>

#include "fuzz/fuzz_input.h"
#include "process/blackbox/rank_state.h"

namespace steptape {
namespace {

void readState(std::string_view input) {
  static const std::string kHeader =
      detail::process::encodeBoxHeader(detail::process::BoxHeader(), detail::process::kStatePart);
  const std::string bytes = kHeader + std::string(input);
  detail::process::RankState state;
  if (!detail::process::decodeRankState(bytes, &state).ok()) {
    return;
  }
  const std::size_t most = bytes.size() / sizeof(std::uint64_t);
  require(state.threads.size() <= most, "each thread lies in the file");
  require(state.collectives.size() <= most, "each collective lies in the file");
  require(state.stepTimes.size() <= 16, "few steps are kept");
  require(state.death.frames.size() <= 64, "few frames are kept");
  for (const detail::process::RankState::Thread& thread : state.threads) {
    require(thread.zones.size() <= 24, "few zones are kept");
  }
}

}  // namespace
}  // namespace steptape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  steptape::readState({reinterpret_cast<const char*>(data), size});
  return 0;
}
