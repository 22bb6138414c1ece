// SPDX-License-Identifier: Apache-2.0
#include "server/provider/blob_key.h"

#include <charconv>
#include <system_error>

namespace steptape::detail::server {
namespace {

// RFC 4648, section 5, without padding.
constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr unsigned kBitsOfDigit = 6;
constexpr unsigned kBitsOfByte = 8;
constexpr char kBetween = '\n';

std::string toUrlText(std::string_view bytes) {
  std::string text;
  unsigned waiting = 0;
  unsigned bits = 0;
  for (const char byte : bytes) {
    waiting = waiting << kBitsOfByte | static_cast<unsigned char>(byte);
    for (bits += kBitsOfByte; bits >= kBitsOfDigit;) {
      bits -= kBitsOfDigit;
      text += kDigits[waiting >> bits & (kDigits.size() - 1)];
    }
  }
  if (bits > 0) {
    text += kDigits[waiting << (kBitsOfDigit - bits) & (kDigits.size() - 1)];
  }
  return text;
}

std::optional<std::string> fromUrlText(std::string_view text) {
  std::string bytes;
  unsigned waiting = 0;
  unsigned bits = 0;
  for (const char digit : text) {
    const std::size_t value = kDigits.find(digit);
    if (value == std::string_view::npos) {
      return std::nullopt;
    }
    waiting = waiting << kBitsOfDigit | static_cast<unsigned>(value);
    bits += kBitsOfDigit;
    if (bits >= kBitsOfByte) {
      bits -= kBitsOfByte;
      bytes += static_cast<char>(waiting >> bits);
    }
  }
  return bytes;
}

template <typename Number>
bool takeNumber(std::string_view* text, Number* number) {
  const char* const end = text->data() + text->size();
  const auto [next, error] = std::from_chars(text->data(), end, *number);
  if (error != std::errc() || next == end || *next != kBetween) {
    return false;
  }
  text->remove_prefix(static_cast<std::size_t>(next + 1 - text->data()));
  return true;
}

}  // namespace

std::string blobKeyOf(const BlobPlace& place) {
  std::string bytes;
  for (const std::string& number : {std::to_string(place.step), std::to_string(place.index),
                                    std::to_string(place.run.size())}) {
    bytes += number + kBetween;
  }
  return toUrlText(bytes + place.run + place.tag);
}

std::optional<BlobPlace> blobPlaceOf(std::string_view key) {
  const std::optional<std::string> bytes = fromUrlText(key);
  if (!bytes) {
    return std::nullopt;
  }
  std::string_view rest = *bytes;
  BlobPlace place;
  std::size_t runBytes = 0;
  if (!takeNumber(&rest, &place.step) || !takeNumber(&rest, &place.index) ||
      !takeNumber(&rest, &runBytes) || runBytes > rest.size()) {
    return std::nullopt;
  }
  place.run = rest.substr(0, runBytes);
  place.tag = rest.substr(runBytes);
  return place;
}

}  // namespace steptape::detail::server
