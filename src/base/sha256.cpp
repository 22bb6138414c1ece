// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

#include <algorithm>
#include <cstring>

namespace steptape::detail::base {
namespace {

constexpr std::array<std::uint32_t, 64> kRoundConstants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr std::uint32_t rotatedRight(std::uint32_t word, int bits) {
  return (word >> bits) | (word << (32 - bits));
}

std::uint32_t loadBigEndian32(const std::uint8_t* in) {
  return (std::uint32_t{in[0]} << 24) | (std::uint32_t{in[1]} << 16) | (std::uint32_t{in[2]} << 8) |
         std::uint32_t{in[3]};
}

}  // namespace

void Sha256::addBlock(const std::uint8_t* block) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t i = 0; i < 16; ++i) {
    w[i] = loadBigEndian32(block + 4 * i);
  }
  for (std::size_t i = 16; i < w.size(); ++i) {
    const std::uint32_t s0 =
        rotatedRight(w[i - 15], 7) ^ rotatedRight(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const std::uint32_t s1 =
        rotatedRight(w[i - 2], 17) ^ rotatedRight(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const std::uint32_t s1 = rotatedRight(e, 6) ^ rotatedRight(e, 11) ^ rotatedRight(e, 25);
    const std::uint32_t choice = (e & f) ^ (~e & g);
    const std::uint32_t first = h + s1 + choice + kRoundConstants[i] + w[i];
    const std::uint32_t s0 = rotatedRight(a, 2) ^ rotatedRight(a, 13) ^ rotatedRight(a, 22);
    const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + s0 + majority;
  }
  const std::array<std::uint32_t, 8> sum{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < sum.size(); ++i) {
    state_[i] += sum[i];
  }
}

void Sha256::update(std::string_view bytes) {
  bytes_ += bytes.size();
  const auto* in = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::size_t left = bytes.size();
  while (left > 0) {
    if (pendingBytes_ == 0 && left >= kBlock) {
      addBlock(in);
      in += kBlock;
      left -= kBlock;
      continue;
    }
    const std::size_t taken = std::min(left, kBlock - pendingBytes_);
    std::memcpy(pending_.data() + pendingBytes_, in, taken);
    pendingBytes_ += taken;
    in += taken;
    left -= taken;
    if (pendingBytes_ == kBlock) {
      addBlock(pending_.data());
      pendingBytes_ = 0;
    }
  }
}

Sha256Digest Sha256::finish() {
  constexpr std::size_t kLengthAt = kBlock - 8;
  const std::uint64_t bits = bytes_ * 8;
  pending_[pendingBytes_++] = 0x80;
  if (pendingBytes_ > kLengthAt) {
    std::fill(pending_.begin() + static_cast<std::ptrdiff_t>(pendingBytes_), pending_.end(),
              std::uint8_t{0});
    addBlock(pending_.data());
    pendingBytes_ = 0;
  }
  std::fill(pending_.begin() + static_cast<std::ptrdiff_t>(pendingBytes_), pending_.end(),
            std::uint8_t{0});
  for (std::size_t i = 0; i < 8; ++i) {
    pending_[kLengthAt + i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
  }
  addBlock(pending_.data());
  Sha256Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  }
  return digest;
}

Sha256Digest sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

Sha256Digest hmacSha256(std::string_view key, std::string_view bytes) {
  constexpr std::size_t kBlockBytes = 64;
  std::array<char, kBlockBytes> inner{};
  const Sha256Digest shortKey = sha256(key);
  const std::string_view used = key.size() > kBlockBytes ? bytesOf(shortKey) : key;
  std::copy(used.begin(), used.end(), inner.begin());
  std::array<char, kBlockBytes> outer = inner;
  for (std::size_t i = 0; i < kBlockBytes; ++i) {
    inner[i] = static_cast<char>(inner[i] ^ 0x36);
    outer[i] = static_cast<char>(outer[i] ^ 0x5c);
  }
  Sha256 message;
  message.update({inner.data(), inner.size()});
  message.update(bytes);
  const Sha256Digest digest = message.finish();
  Sha256 result;
  result.update({outer.data(), outer.size()});
  result.update(bytesOf(digest));
  return result.finish();
}

std::string hexadecimal(const Sha256Digest& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace steptape::detail::base
