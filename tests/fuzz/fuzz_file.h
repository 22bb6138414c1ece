// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/framing/record_bytes.h"
#include "fuzz/fuzz_input.h"

namespace steptape {

/// A partly damaged event file. A fuzzer cannot guess checksums, so the case specifies the parts:
/// complete records, truncated records, false lengths, and anything else.
struct FuzzFile {
  std::string bytes;
  /// Offsets and sizes of the complete records, including framing.
  std::vector<std::pair<std::size_t, std::size_t>> records;
};

/// @param takePayload Makes a record's payload from the case's bytes.
template <typename TakePayload>
FuzzFile takeFile(FuzzInput* input, TakePayload takePayload) {
  FuzzFile file;
  for (std::size_t pieces = input->below(32); pieces > 0; --pieces) {
    switch (input->below(8)) {
      case 0:
        file.bytes += input->text();
        break;
      case 1: {
        const std::string record = recordOf(takePayload(input));
        file.bytes += record.substr(0, input->byte() % record.size());
        break;
      }
      case 2:
        file.bytes += headerOf(input->byte());
        break;
      case 3:
        file.bytes += headerOf(static_cast<std::uint64_t>(input->integer()));
        break;
      case 4:
        file.bytes.append(16 * input->byte(), '\0');
        break;
      default: {
        const std::string record = recordOf(takePayload(input));
        file.records.emplace_back(file.bytes.size(), record.size());
        file.bytes += record;
      }
    }
  }
  return file;
}

}  // namespace steptape
