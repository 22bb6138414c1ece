// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/deflate/crc32.h"

#if defined(__x86_64__)

#include <smmintrin.h>
#include <wmmintrin.h>

#include <zlib.h>

namespace steptape::detail::profile {
namespace {

// A message is a polynomial, and its checksum is the remainder of a division. Four blocks of 128
// bits hold unreduced remainders. Each step moves them forward by multiplying with a power of x,
// for which the remainder of that power is sufficient.
// @source V. Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
//         Instruction", Intel 2009

constexpr std::uint32_t kPolynomial = 0xedb88320;  // of gzip, the highest power in the lowest bit

/// Returns the remainder of x^n as a factor: the product of two reversed numbers is one bit too
/// low.
constexpr std::int64_t power(int n) {
  std::uint32_t remainder = 0x80000000;
  for (; n > 0; --n) {
    remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? kPolynomial : 0);
  }
  return std::int64_t{remainder} << 1;
}

/// Moves `block` forward by `kBits` to the position of `there`, and adds `there`.
template <int kBits>
__m128i fold(__m128i block, __m128i there) {
  const __m128i factors = _mm_set_epi64x(power(kBits - 32), power(kBits + 32));
  return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(block, factors, 0x00),
                                     _mm_clmulepi64_si128(block, factors, 0x11)),
                       there);
}

__m128i load(const char* data) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(data));
}

}  // namespace

bool canFoldCrc32() {
  return __builtin_cpu_supports("pclmul") != 0;
}

std::uint32_t foldCrc32(std::uint32_t crc, const char* data, std::size_t size) {
  const char* const end = data + size;
  __m128i a = _mm_xor_si128(load(data), _mm_cvtsi32_si128(static_cast<int>(~crc)));
  __m128i b = load(data + 16);
  __m128i c = load(data + 32);
  __m128i d = load(data + 48);
  for (data += 64; end - data >= 64; data += 64) {
    a = fold<512>(a, load(data));
    b = fold<512>(b, load(data + 16));
    c = fold<512>(c, load(data + 32));
    d = fold<512>(d, load(data + 48));
  }
  a = fold<128>(fold<128>(fold<128>(a, b), c), d);
  for (; data != end; data += 16) {
    a = fold<128>(a, load(data));
  }
  unsigned char rest[16];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest), a);
  // zlib inverts the register before and after; here, the register must start at 0.
  return static_cast<std::uint32_t>(::crc32(0xffffffff, rest, sizeof rest));
}

}  // namespace steptape::detail::profile

#else

#include <cstdlib>

namespace steptape::detail::profile {

bool canFoldCrc32() {
  return false;
}

std::uint32_t foldCrc32(std::uint32_t /*crc*/, const char* /*data*/, std::size_t /*size*/) {
  std::abort();  // never called
}

}  // namespace steptape::detail::profile

#endif
