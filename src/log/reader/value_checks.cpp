// SPDX-License-Identifier: Apache-2.0
#include "log/reader/value_checks.h"

#include <cstring>
#include <variant>

#include "base/got_expected.h"
#include "base/little_endian.h"
#include "base/text.h"

namespace steptape::detail::log {
namespace {

// Enough for every valid tensor; a hostile one would make a message of megabytes.
constexpr std::size_t kMaxDimensionsShown = 8;

/// One overload per alternative of Value::Data.
struct KindName {
  const char* operator()(std::monostate) const { return "no data"; }
  const char* operator()(float) const { return "a simple_value"; }
  const char* operator()(const event::Tensor&) const { return "a tensor"; }
  const char* operator()(const event::SummaryImage&) const { return "the field image"; }
  const char* operator()(const event::SummaryHistogram&) const { return "the field histo"; }
  const char* operator()(const event::SummaryAudio&) const { return "the field audio"; }
};

/// @return false if the shape is negative or too large for any tensor.
bool multiply(const std::vector<std::int64_t>& shape, std::uint64_t* elements) {
  *elements = 1;
  for (const std::int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(*elements, static_cast<std::uint64_t>(size), elements)) {
      return false;
    }
  }
  return true;
}

Status checkSize(const event::Tensor& tensor, const char* what) {
  const std::uint64_t elementBytes = event::bytesPerElement(tensor.type);
  const bool isString = tensor.type == event::TensorType::kString;
  if (elementBytes == 0 && !isString) {
    return Status();
  }
  const std::uint64_t got = isString ? tensor.strings.size() : tensor.content.size();
  std::uint64_t needed = 0;
  if (multiply(tensor.shape, &needed) && (isString || needed <= got) &&
      got == needed * (isString ? 1 : elementBytes)) {
    return Status();
  }
  if (got == 0 && needed == 1) {
    return unexpected(what, "no value", "one for the shape " + shapeText(tensor.shape));
  }
  const char* const unit = isString ? " strings" : " bytes";
  return unexpected(what, std::to_string(got) + unit,
                    "the elements of shape " + shapeText(tensor.shape) +
                        (isString ? "" : " of " + std::to_string(elementBytes) + " bytes each"));
}

Status unexpectedType(const char* what, event::TensorType got, const char* expected) {
  return unexpected(what, "element type " + std::to_string(static_cast<int>(got)), expected);
}

}  // namespace

Status unexpected(const char* what, const std::string& got, const std::string& expected) {
  return Status(ErrorCode::kDataLoss, std::string(what) + ": " + base::gotExpected(got, expected));
}

std::string shapeText(const std::vector<std::int64_t>& shape) {
  if (shape.size() > kMaxDimensionsShown) {
    return "of " + std::to_string(shape.size()) + " dimensions";
  }
  return "(" + base::commaSeparated(shape) + ")";
}

Status findTensor(const event::Value& value, const char* what, const event::Tensor** tensor) {
  *tensor = std::get_if<event::Tensor>(&value.data);
  if (*tensor == nullptr) {
    return unexpected(what, std::visit(KindName(), value.data), "a tensor");
  }
  return checkSize(**tensor, what);
}

Status findStrings(const event::Value& value, const char* what, const event::Tensor** tensor) {
  Status status = findTensor(value, what, tensor);
  if (status.ok() && (*tensor)->type != event::TensorType::kString) {
    return unexpectedType(what, (*tensor)->type, "strings, type 7");
  }
  return status;
}

Status findNumbers(const event::Value& value, const char* what, const event::Tensor** tensor) {
  Status status = findTensor(value, what, tensor);
  if (status.ok() && event::bytesPerElement((*tensor)->type) == 0) {
    return unexpectedType(what, (*tensor)->type, "numbers");
  }
  return status;
}

Status findFloats(const event::Value& value, const char* what, const event::Tensor** tensor) {
  Status status = findTensor(value, what, tensor);
  if (status.ok() && (*tensor)->type != event::TensorType::kFloat &&
      (*tensor)->type != event::TensorType::kDouble) {
    return unexpectedType(what, (*tensor)->type, "floats or doubles, type 1 or 2");
  }
  return status;
}

double floatAt(const event::Tensor& tensor, std::size_t index) {
  if (tensor.type == event::TensorType::kFloat) {
    const std::uint32_t bits =
        base::loadLittleEndian32(tensor.content.data() + index * sizeof(float));
    float number;
    std::memcpy(&number, &bits, sizeof number);
    return double{number};
  }
  const std::uint64_t bits =
      base::loadLittleEndian64(tensor.content.data() + index * sizeof(double));
  double number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

}  // namespace steptape::detail::log
