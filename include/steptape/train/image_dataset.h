// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "steptape/base/export.h"

#include <ATen/core/Tensor.h>

namespace steptape {

/// Reads an IDX file of unsigned bytes, the format of MNIST and Fashion-MNIST, plain or gzipped.
///
/// @return the elements as uint8, in the file's shape: (60000, 28, 28) for images, (60000) for
///         labels.
/// @throws Error(kIoError) if the file cannot be opened or read; Error(kDataLoss) if it is not an
///         IDX file, ends early or continues after its last element; Error(kInvalidArgument) if its
///         elements are not unsigned bytes. Each names the file, what was found and what was
///         expected.
/// @threads Thread-safe.
/// @cost   One pass. 45 MB of gzipped images take about 0.3 s, the time of inflating them.
/// @source "THE IDX FILE FORMAT" at http://yann.lecun.com/exdb/mnist/: two zero bytes, the element
///         type (8: unsigned byte), the number of dimensions, then each dimension as a big-endian
///         32-bit integer, then the elements in row-major order.
STEPTAPE_EXPORT at::Tensor loadIdx(const std::string& path);

/// The part of a data set: for training or for evaluation.
enum class Split { kTrain, kTest };

/// Labeled images in memory, as bytes.
///
/// Copies share the tensors, so a data set is cheap to pass by value.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT ImageDataset {
 public:
  /// @param images (N, H, W) or (N, C, H, W), uint8.
  /// @param labels (N), uint8 or int64.
  /// @throws Error(kInvalidArgument) naming the wrong shape or type, or different numbers of labels
  ///         and images.
  ImageDataset(const at::Tensor& images, const at::Tensor& labels);

  /// Returns the number of images.
  std::int64_t size() const { return images_.size(0); }
  /// @shape (N, C, H, W), uint8, contiguous.
  const at::Tensor& images() const { return images_; }
  /// @shape (N), int64, contiguous.
  const at::Tensor& labels() const { return labels_; }

 private:
  at::Tensor images_;
  at::Tensor labels_;
};

/// Reads MNIST or Fashion-MNIST from its four files, such as `train-images-idx3-ubyte`, plain or
/// with `.gz`.
///
/// @param directory Directory of the files. Debian's dataset-fashion-mnist installs them in
///         /usr/share/datasets/fashion-mnist.
/// @param split     The part to read.
/// @throws Error(kIoError) if a file is missing, with instructions to get the data set; otherwise
///         as for loadIdx() and ImageDataset.
/// @cost   47 MB and 0.3 s for the training part.
STEPTAPE_EXPORT ImageDataset loadMnist(const std::string& directory, Split split);

/// Reads CIFAR-10 in its binary version: `data_batch_1.bin` to `data_batch_5.bin`, or
/// `test_batch.bin`.
///
/// @throws Error(kIoError) if a file is missing; Error(kDataLoss) if a file does not consist of
///         whole records or a label is above 9.
/// @source https://www.cs.toronto.edu/~kriz/cifar.html, "Binary version": records of one label byte
///         and 3 x 32 x 32 bytes, channel by channel.
STEPTAPE_EXPORT ImageDataset loadCifar10(const std::string& directory, Split split);

}  // namespace steptape
