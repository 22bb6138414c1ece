// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace steptape
