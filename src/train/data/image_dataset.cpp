// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/train/batch_loader.h"

#include "base/gzip_file.h"

#include <ATen/ops/empty.h>

namespace steptape {
namespace {

constexpr std::int64_t kCifarBatchImages = 10000;
constexpr std::int64_t kCifarImageBytes = 3 * 32 * 32;
constexpr std::uint8_t kCifarClasses = 10;

std::string shapeString(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

[[noreturn]] void throwMissing(const std::string& file, const std::string& directory,
                               const std::string& howToGet) {
  throw Error(ErrorCode::kIoError,
              "data set not found: no " + file + " in " + directory + "; install it: " + howToGet);
}

std::string findIdx(const std::string& directory, const std::string& name) {
  const std::filesystem::path plain = std::filesystem::path(directory) / name;
  for (const std::string& path : {plain.string(), plain.string() + ".gz"}) {
    if (std::filesystem::exists(path)) {
      return path;
    }
  }
  throwMissing(name + " or " + name + ".gz", directory,
               "apt-get install dataset-fashion-mnist, or tools/get_data.sh");
}

/// Reads one file of records into the tensors, starting at image `first`.
void readCifarBatch(const std::string& path, std::int64_t first, const at::Tensor& images,
                    const at::Tensor& labels) {
  detail::base::GzipFile file(path);
  auto* pixels = images.data_ptr<std::uint8_t>() + first * kCifarImageBytes;
  auto* label = labels.data_ptr<std::uint8_t>() + first;
  for (std::int64_t i = 0; i < kCifarBatchImages; ++i, pixels += kCifarImageBytes, ++label) {
    file.readExactly(label, 1);
    file.readExactly(pixels, kCifarImageBytes);
    if (*label >= kCifarClasses) {
      throw Error(ErrorCode::kDataLoss, path + ": got the label " + std::to_string(*label) +
                                            " at image " + std::to_string(i) +
                                            "; expected 0 to 9, as in CIFAR-10's binary version");
    }
  }
  file.expectEnd();
}

}  // namespace

ImageDataset::ImageDataset(const at::Tensor& images, const at::Tensor& labels) {
  if (images.scalar_type() != at::kByte || images.dim() < 3 || images.dim() > 4) {
    throw Error(ErrorCode::kInvalidArgument,
                "got images of shape " + shapeString(images) + " and type " +
                    at::toString(images.scalar_type()) +
                    "; expected (N, H, W) or (N, C, H, W) of unsigned bytes");
  }
  if (labels.dim() != 1 || labels.size(0) != images.size(0)) {
    throw Error(ErrorCode::kInvalidArgument, "got labels of shape " + shapeString(labels) +
                                                 " for images of shape " + shapeString(images) +
                                                 "; expected one label per image");
  }
  images_ = (images.dim() == 3 ? images.unsqueeze(1) : images).contiguous();
  labels_ = labels.to(at::kLong).contiguous();
}

ImageDataset loadMnist(const std::string& directory, Split split) {
  const std::string prefix = split == Split::kTrain ? "train" : "t10k";
  return {loadIdx(findIdx(directory, prefix + "-images-idx3-ubyte")),
          loadIdx(findIdx(directory, prefix + "-labels-idx1-ubyte"))};
}

ImageDataset loadCifar10(const std::string& directory, Split split) {
  std::vector<std::string> names = {"test_batch.bin"};
  if (split == Split::kTrain) {
    names = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
             "data_batch_5.bin"};
  }
  const std::int64_t count = kCifarBatchImages * static_cast<std::int64_t>(names.size());
  const at::Tensor images = at::empty({count, 3, 32, 32}, at::kByte);
  const at::Tensor labels = at::empty({count}, at::kByte);
  std::int64_t first = 0;
  for (const std::string& name : names) {
    const std::filesystem::path path = std::filesystem::path(directory) / name;
    if (!std::filesystem::exists(path)) {
      throwMissing(name, directory, "tools/get_data.sh cifar10");
    }
    readCifarBatch(path.string(), first, images, labels);
    first += kCifarBatchImages;
  }
  return {images, labels};
}

}  // namespace steptape
