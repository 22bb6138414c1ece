// SPDX-License-Identifier: Apache-2.0
#include "safetensors/header_reader.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "steptape/base/error.h"

#include "base/got_expected.h"
#include "base/text.h"
#include "safetensors/tensor_layout.h"

namespace steptape::detail {
namespace {

constexpr const char* kDTypeField = "dtype";
constexpr const char* kShapeField = "shape";
constexpr const char* kOffsetsField = "data_offsets";

/// The fields of a tensor that have been read.
struct TensorFields {
  std::optional<SafetensorsDType> dtype;
  std::optional<std::vector<std::int64_t>> shape;
  std::optional<std::vector<std::uint64_t>> offsets;
};

/// Builds a header from the events of nlohmann-json's parser.
class HeaderListener {
 public:
  explicit HeaderListener(const std::string& path) : path_(path) {}

  SafetensorsHeader take() { return std::move(header_); }

  // NOLINTBEGIN(readability-identifier-naming): the names are the parser's.
  bool null() { unexpected("null"); }
  bool boolean(bool value) { unexpected(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) { unexpected(std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) {
    if (place_ == Place::kOffsets) {
      fields_.offsets->push_back(value);
    } else if (place_ == Place::kShape && value <= std::numeric_limits<std::int64_t>::max()) {
      fields_.shape->push_back(static_cast<std::int64_t>(value));
    } else {
      unexpected(std::to_string(value));
    }
    return true;
  }
  bool number_float(double /*value*/, const std::string& text) {
    constexpr std::size_t kMaxShown = 30;
    unexpected("the number " + text.substr(0, kMaxShown));
  }
  bool string(std::string& value) {
    if (place_ == Place::kMetadata) {
      addMetadata(std::move(value));
    } else if (place_ == Place::kTensor && field_ == kDTypeField) {
      setDType(value);
    } else {
      unexpected("the string " + shownName(value));
    }
    return true;
  }
  bool binary(std::vector<std::uint8_t>& /*value*/) { return true; }  // JSON has none
  bool key(std::string& value) {
    (place_ == Place::kFile ? name_ : field_) = std::move(value);
    return true;
  }
  bool start_object(std::size_t /*size*/) {
    if (place_ == Place::kStart) {
      place_ = Place::kFile;
    } else if (place_ != Place::kFile) {
      unexpected("an object");
    } else if (name_ != kSafetensorsMetadataName) {
      place_ = Place::kTensor;
    } else if (std::exchange(hasMetadata_, true)) {
      fail(where() + ": " + gotExpected("two entries", "one"));
    } else {
      place_ = Place::kMetadata;
    }
    return true;
  }
  bool start_array(std::size_t /*size*/) {
    if (place_ == Place::kTensor && field_ == kShapeField) {
      begin(fields_.shape);
      place_ = Place::kShape;
    } else if (place_ == Place::kTensor && field_ == kOffsetsField) {
      begin(fields_.offsets);
      place_ = Place::kOffsets;
    } else {
      unexpected("an array");
    }
    return true;
  }
  bool end_array() {
    place_ = Place::kTensor;
    return true;
  }
  bool end_object() {
    if (place_ == Place::kTensor) {
      addTensor();
    }
    place_ = Place::kFile;  // After the last object the parser ends.
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) {
    fail("the header: " + gotExpected("invalid JSON at byte " + std::to_string(position), "JSON"));
  }
  // NOLINTEND(readability-identifier-naming)

 private:
  /// The position of the next value.
  enum class Place { kStart, kFile, kMetadata, kTensor, kShape, kOffsets };

  [[noreturn]] void fail(const std::string& problem) const { failAsDamaged(path_, problem); }

  [[noreturn]] void unexpected(const std::string& got) const {
    fail(where() + ": " + gotExpected(got, expected()));
  }

  /// Names the owner of the next value.
  std::string where() const {
    if (place_ == Place::kStart) {
      return "the header";
    }
    if (name_ == kSafetensorsMetadataName) {
      return name_ + (place_ == Place::kMetadata ? ": " + shownName(field_) : "");
    }
    return "tensor " + shownName(name_) + (place_ == Place::kFile ? "" : ": " + shownName(field_));
  }

  const char* expected() const {
    if (place_ == Place::kStart) {
      return "an object of tensors";
    }
    if (name_ == kSafetensorsMetadataName) {
      return place_ == Place::kFile ? "an object of strings" : "a string";
    }
    if (place_ == Place::kFile) {
      return "an object with dtype, shape and data_offsets";
    }
    if (field_ == kDTypeField) {
      return "the name of a type";
    }
    return field_ == kShapeField     ? "an array of whole numbers below 2^63"
           : field_ == kOffsetsField ? "an array of two whole numbers"
                                     : "only dtype, shape and data_offsets";
  }

  void addMetadata(std::string value) {
    if (!header_.metadata.emplace(field_, std::move(value)).second) {
      fail(where() + ": " + gotExpected("two values", "one"));
    }
  }

  void setDType(const std::string& name) {
    if (fields_.dtype) {
      failAsRepeated();
    }
    fields_.dtype = safetensorsDTypeNamed(name);
    if (!fields_.dtype) {
      fail(where() + ": " + gotExpected(shownName(name), "one of " + safetensorsDTypeNames()));
    }
  }

  template <typename Numbers>
  void begin(std::optional<Numbers>& numbers) {
    if (numbers) {
      failAsRepeated();
    }
    numbers.emplace();
  }

  [[noreturn]] void failAsRepeated() const {
    fail(where() + ": " + gotExpected("two values", "one"));
  }

  void addTensor() {
    TensorFields fields = std::exchange(fields_, {});
    const std::string tensor = "tensor " + shownName(name_) + ": ";
    if (!fields.dtype || !fields.shape || !fields.offsets) {
      const char* const missing = !fields.dtype   ? kDTypeField
                                  : !fields.shape ? kShapeField
                                                  : kOffsetsField;
      fail(tensor + gotExpected(std::string("no ") + missing, "dtype, shape and data_offsets"));
    }
    const std::vector<std::uint64_t>& offsets = *fields.offsets;
    if (offsets.size() != 2 || offsets[1] < offsets[0]) {
      fail(tensor + gotExpected("data_offsets [" + commaSeparated(offsets) + "]",
                                "the start and the end of its bytes"));
    }
    SafetensorsFile::Entry entry;
    entry.name = name_;
    entry.dtype = *fields.dtype;
    entry.shape = std::move(*fields.shape);
    entry.offset = offsets[0];
    entry.bytes = offsets[1] - offsets[0];
    header_.entries.push_back(std::move(entry));
  }

  const std::string& path_;
  SafetensorsHeader header_;
  Place place_ = Place::kStart;
  std::string name_;   ///< Of the tensor, or kSafetensorsMetadataName.
  std::string field_;  ///< Of the tensor, or of the metadata.
  TensorFields fields_;
  bool hasMetadata_ = false;
};

}  // namespace

void failAsDamaged(const std::string& path, const std::string& problem) {
  throw Error(ErrorCode::kDataLoss, "cannot read " + path + ": " + problem);
}

SafetensorsHeader readSafetensorsHeader(std::string_view json, const std::string& path) {
  HeaderListener listener(path);
  nlohmann::json::sax_parse(json.begin(), json.end(), &listener);
  return listener.take();
}

}  // namespace steptape::detail
