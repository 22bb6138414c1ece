// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/train/batch_loader.h"

#include "base/gzip_file.h"

#include <ATen/ops/empty.h>

namespace steptape {
namespace {

/// Returns text such as "00 1f 8b".
std::string hexBytes(const std::uint8_t* data, std::size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += i == 0 ? "" : " ";
    text += kDigits[data[i] >> 4];
    text += kDigits[data[i] & 15];
  }
  return text;
}

constexpr std::uint8_t kUnsignedByte = 0x08;
/// Larger than any data set of this format; limits the memory for a damaged header.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 33;

std::vector<std::int64_t> readShape(detail::base::GzipFile& file, int dimensions) {
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
  for (int i = 0; i < dimensions; ++i) {
    std::array<std::uint8_t, 4> bytes{};
    file.readExactly(bytes.data(), bytes.size());
    const std::int64_t size = (std::int64_t{bytes[0]} << 24) | (std::int64_t{bytes[1]} << 16) |
                              (std::int64_t{bytes[2]} << 8) | std::int64_t{bytes[3]};
    if (size > 0 && elements > kMaxElements / size) {
      throw Error(ErrorCode::kDataLoss,
                  file.path() + ": got more than " + std::to_string(kMaxElements) +
                      " elements in the header; expected fewer: the file is damaged");
    }
    elements *= size;
    shape.push_back(size);
  }
  return shape;
}

}  // namespace

at::Tensor loadIdx(const std::string& path) {
  detail::base::GzipFile file(path);
  std::array<std::uint8_t, 4> magic{};
  file.readExactly(magic.data(), magic.size());
  if (magic[0] != 0 || magic[1] != 0 || magic[3] == 0) {
    throw Error(ErrorCode::kDataLoss, path + " is not an IDX file: got the first bytes " +
                                          hexBytes(magic.data(), magic.size()) +
                                          "; expected 00 00, the element type and the number of "
                                          "dimensions");
  }
  if (magic[2] != kUnsignedByte) {
    throw Error(ErrorCode::kInvalidArgument, path + ": got elements of the IDX type " +
                                                 hexBytes(&magic[2], 1) +
                                                 "; expected 08 (unsigned bytes)");
  }
  at::Tensor tensor = at::empty(readShape(file, magic[3]), at::kByte);
  file.readExactly(tensor.data_ptr<std::uint8_t>(), static_cast<std::size_t>(tensor.numel()));
  file.expectEnd();
  return tensor;
}

}  // namespace steptape
