// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/little_endian.h"
#include "events/framing/masked_crc32c.h"
#include "events/framing/record_buffer.h"
#include "events/framing/record_format.h"
#include "fuzz/fuzz_input.h"

namespace steptape {

/// A partly damaged event file. A fuzzer cannot guess checksums, so the case specifies the parts:
/// complete records, truncated records, false lengths, and anything else.
struct FuzzFile {
  std::string bytes;
  /// Offsets and sizes of the complete records, including framing.
  std::vector<std::pair<std::size_t, std::size_t>> records;
};

inline std::string framedRecord(std::string_view payload) {
  detail::events::RecordBuffer buffer;
  buffer.append(payload);
  return buffer.take();
}

/// Returns a header with a valid checksum for any length.
inline std::string lyingHeader(std::uint64_t length) {
  std::string bytes(detail::events::kHeaderBytes, '\0');
  detail::base::storeLittleEndian64(bytes.data(), length);
  detail::base::storeLittleEndian32(bytes.data() + 8,
                                    detail::events::maskedCrc32c({bytes.data(), 8}).value());
  return bytes;
}

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
        const std::string record = framedRecord(takePayload(input));
        file.bytes += record.substr(0, input->byte() % record.size());
        break;
      }
      case 2:
        file.bytes += lyingHeader(input->byte());
        break;
      case 3:
        file.bytes += lyingHeader(static_cast<std::uint64_t>(input->integer()));
        break;
      case 4:
        file.bytes.append(16 * input->byte(), '\0');
        break;
      default: {
        const std::string record = framedRecord(takePayload(input));
        file.records.emplace_back(file.bytes.size(), record.size());
        file.bytes += record;
      }
    }
  }
  return file;
}

}  // namespace steptape
