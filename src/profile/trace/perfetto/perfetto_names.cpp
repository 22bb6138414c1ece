// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/perfetto/perfetto_names.h"

#include "base/utf8.h"
#include "events/messages/wire_format.h"
#include "profile/trace/perfetto/perfetto_format.h"

namespace steptape::detail::profile {
namespace {

/// Beyond this, texts are written again: a trace whose texts all differ takes no more memory.
constexpr std::size_t kMaxNameBytes = std::size_t{8} << 20;

}  // namespace

std::uint64_t PerfettoNames::numberOf(std::uint32_t field, std::string_view text) {
  if (bytes_ > kMaxNameBytes) {
    numbers_.clear();
    bytes_ = 0;
  }
  std::string key(1, static_cast<char>(field));
  key += text;
  const auto [known, isNew] = numbers_.try_emplace(std::move(key), last_ + 1);
  if (isNew) {
    ++last_;
    bytes_ += known->first.size() + sizeof *known;
    std::string bytes;
    events::appendVarintField(&bytes, perfetto::interned::kIid, last_);
    events::appendBytesField(&bytes, perfetto::interned::kText, base::replaceInvalidUtf8(text));
    events::appendBytesField(&new_, field, bytes);
  }
  return known->second;
}

}  // namespace steptape::detail::profile
