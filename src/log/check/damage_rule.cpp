// SPDX-License-Identifier: Apache-2.0
#include "log/check/damage_rule.h"

#include <cstddef>

#include "base/little_endian.h"
#include "events/framing/masked_crc32c.h"
#include "events/framing/record_format.h"

namespace steptape::detail::log {
namespace {

constexpr DamageRule rule(const char* name, const char* consequence) {
  return {{name, ReaderEffect::kLoss, ReaderEffect::kLoss}, consequence};
}

}  // namespace

DamageRule damageRule(const ByteSource& source, const RecordWalk& walk) {
  if (walk.isCutShort()) {
    return rule("cut-and-continued",
                "both readers wait for the rest here, and take what follows for it");
  }
  char header[events::kHeaderBytes] = {};
  std::size_t got = 0;
  if (!source.read(walk.offset(), header, sizeof header, &got).ok() || got < sizeof header ||
      events::MaskedCrc32c(base::loadLittleEndian32(header + 8)) !=
          events::maskedCrc32c({header, 8})) {
    return rule("length-checksum", "both readers show nothing of the file from here on");
  }
  if (base::loadLittleEndian64(header) > events::kMaxPayloadBytes) {
    return rule(
        "record-too-long",
        "the Python loader shows nothing of the file from here on; the fast data server asks "
        "for that much memory, and ends if it gets none");
  }
  return rule(
      "data-checksum",
      "the Python loader shows nothing of the file from here on; the fast data server shows "
      "what the damaged bytes say, or nothing from here on");
}

}  // namespace steptape::detail::log
