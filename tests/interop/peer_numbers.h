// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "steptape/values/tensor_view.h"

/// The arrays that peer_numbers.py has saved in a folder.
///
/// @threads Thread-compatible: const methods may run concurrently.
class PeerNumbers {
 public:
  /// @throws std::runtime_error with a file that cannot be read or does not have the size in the
  ///         index.
  explicit PeerNumbers(const std::string& directory);

  /// Returns the names, in order.
  std::vector<std::string> names() const;
  /// Returns a view that is valid as long as this object.
  /// @throws std::out_of_range if there is no array of that name.
  steptape::TensorView operator[](const std::string& name) const;
  /// Returns part `index` along the first dimension.
  steptape::TensorView at(const std::string& name, std::int64_t index) const;
  /// Returns the elements of an array of float64.
  std::vector<double> doubles(const std::string& name) const;

 private:
  struct Array {
    steptape::DType dtype;
    std::vector<std::int64_t> shape;
    std::string bytes;
  };

  std::map<std::string, Array> arrays_;
};
