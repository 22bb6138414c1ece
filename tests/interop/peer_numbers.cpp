// SPDX-License-Identifier: Apache-2.0
#include "peer_numbers.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "steptape/base/status.h"

namespace {

using steptape::DType;
using steptape::TensorView;

DType dtypeNamed(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(DType::kFloat64); ++i) {
    if (dtypeName(static_cast<DType>(i)) == name) {
      return static_cast<DType>(i);
    }
  }
  throw std::runtime_error("unknown element type " + name);
}

}  // namespace

PeerNumbers::PeerNumbers(const std::string& directory) {
  const std::string indexPath = directory + "/index.txt";
  std::ifstream index(indexPath);
  if (!index) {
    throw std::runtime_error("cannot read " + indexPath);
  }
  for (std::string line; std::getline(index, line);) {
    std::istringstream words(line);
    std::string name;
    std::string dtype;
    words >> name >> dtype;
    Array array{dtypeNamed(dtype), {std::istream_iterator<std::int64_t>(words), {}}, {}};
    const std::string path = std::filesystem::path(directory) / (name + ".bin");
    std::ifstream file(path, std::ios::binary);
    array.bytes.assign(std::istreambuf_iterator<char>(file), {});
    std::size_t expected = dtypeSize(array.dtype);
    for (const std::int64_t dimension : array.shape) {
      expected *= static_cast<std::size_t>(dimension);
    }
    if (array.bytes.size() != expected) {
      throw std::runtime_error(path + " has " + std::to_string(array.bytes.size()) +
                               " bytes, not " + std::to_string(expected));
    }
    arrays_.emplace(name, std::move(array));
  }
}

std::vector<std::string> PeerNumbers::names() const {
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays_) {
    names.push_back(name);
  }
  return names;
}

TensorView PeerNumbers::operator[](const std::string& name) const {
  const Array& array = arrays_.at(name);
  return {array.bytes.data(), array.dtype, array.shape, {}};
}

TensorView PeerNumbers::at(const std::string& name, std::int64_t index) const {
  const TensorView whole = (*this)[name];
  const std::vector<std::int64_t> shape(whole.shape().begin() + 1, whole.shape().end());
  std::int64_t elements = 1;
  for (const std::int64_t dimension : shape) {
    elements *= dimension;
  }
  const auto bytes = static_cast<std::size_t>(index * elements) * dtypeSize(whole.dtype());
  return {static_cast<const char*>(whole.data()) + bytes, whole.dtype(), shape, {}};
}

std::vector<double> PeerNumbers::doubles(const std::string& name) const {
  const TensorView view = (*this)[name];
  if (view.dtype() != DType::kFloat64) {
    throw std::runtime_error(name + " is " + dtypeName(view.dtype()) + ", not float64");
  }
  const auto* first = static_cast<const double*>(view.data());
  return {first, first + view.numel()};
}
