// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "steptape/base/export.h"

#include <ATen/core/Tensor.h>

namespace steptape {

/// Reads an IDX file of unsigned bytes, the format of MNIST and Fashion-MNIST, plain or gzipped.
///
/// @return the elements as uint8, in the shape that the file states: (60000, 28, 28) for images,
///         (60000) for labels.
/// @throws Error(kIoError) if the file cannot be opened or read; Error(kDataLoss) if it is no IDX
///         file, ends early or goes on after its last element; Error(kInvalidArgument) if its
///         elements are not unsigned bytes. Each names the file, what was got and what was wanted.
/// @threads Thread-safe.
/// @cost   One pass; 45 MB of images take about 0.3 s from gzip, the time of inflating them.
/// @source "THE IDX FILE FORMAT" at http://yann.lecun.com/exdb/mnist/: two zero bytes, the element
///         type (8: unsigned byte), the number of dimensions, then each dimension as a big-endian
///         32-bit integer, then the elements in row-major order.
STEPTAPE_EXPORT at::Tensor loadIdx(const std::string& path);

/// Which part of a data set: what a model learns from, or what it is judged by.
enum class Split { kTrain, kTest };

/// Labeled images that lie in memory as bytes, as they came from disk.
///
/// Copies share the tensors, so a data set is cheap to pass by value.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT ImageDataset {
 public:
  /// @shape  `images`: (N, H, W) or (N, C, H, W), uint8. `labels`: (N), uint8 or int64.
  /// @throws Error(kInvalidArgument) naming the shape or type that does not fit, such as another
  ///         number of labels than of images.
  ImageDataset(const at::Tensor& images, const at::Tensor& labels);

  /// Number of images.
  std::int64_t size() const { return images_.size(0); }
  /// @shape (N, C, H, W), uint8, contiguous.
  const at::Tensor& images() const { return images_; }
  /// @shape (N), int64, contiguous.
  const at::Tensor& labels() const { return labels_; }

 private:
  at::Tensor images_;
  at::Tensor labels_;
};

/// Reads MNIST or Fashion-MNIST from the four files that both are distributed as, such as
/// `train-images-idx3-ubyte`, plain or with `.gz`.
///
/// @param directory Where the files lie; Debian's dataset-fashion-mnist puts them into
///                  /usr/share/datasets/fashion-mnist.
/// @throws Error(kIoError) that says how to get the data set if a file is not there; otherwise as
///         loadIdx() and ImageDataset.
/// @cost   47 MB and 0.3 s for the training part.
STEPTAPE_EXPORT ImageDataset loadMnist(const std::string& directory, Split split);

/// Reads CIFAR-10 in its binary version: `data_batch_1.bin` to `data_batch_5.bin`, or
/// `test_batch.bin`.
///
/// @throws Error(kIoError) if a file is not there; Error(kDataLoss) if one does not consist of
///         whole records or a label is above 9.
/// @source https://www.cs.toronto.edu/~kriz/cifar.html, "Binary version": records of one label byte
///         and 3 x 32 x 32 bytes, channel by channel.
STEPTAPE_EXPORT ImageDataset loadCifar10(const std::string& directory, Split split);

}  // namespace steptape
