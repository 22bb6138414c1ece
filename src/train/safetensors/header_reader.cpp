// SPDX-License-Identifier: Apache-2.0
#include "train/safetensors/header_reader.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "steptape/base/status.h"

#include "base/got_expected.h"
#include "base/text.h"
#include "train/safetensors/tensor_layout.h"

namespace steptape::detail::train {
namespace {

constexpr const char* kDTypeField = "dtype";
constexpr const char* kShapeField = "shape";
constexpr const char* kOffsetsField = "data_offsets";
constexpr const char* kSurplusField = "fourth value";

// The limit of serde_json, with which the format's own library reads.
constexpr int kMaxDepth = 127;

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
  bool null() {
    beginValue();
    if (place_ == Place::kFile && name_ == kSafetensorsMetadataName) {
      noteMetadata();  // as if there were none
    } else if (!isIgnored() && place_ != Place::kDType) {
      unexpected("null");
    }
    return true;
  }
  bool boolean(bool value) {
    beginValue();
    return ignoreOr(value ? "true" : "false");
  }
  bool number_integer(std::int64_t value) {
    beginValue();
    return ignoreOr(std::to_string(value));
  }
  bool number_unsigned(std::uint64_t value) {
    beginValue();
    if (place_ == Place::kOffsets) {
      fields_.offsets->push_back(value);
    } else if (place_ == Place::kShape && value <= std::numeric_limits<std::int64_t>::max()) {
      fields_.shape->push_back(static_cast<std::int64_t>(value));
    } else {
      ignoreOr(std::to_string(value));
    }
    return true;
  }
  bool number_float(double /*value*/, const std::string& text) {
    constexpr std::size_t kMaxShown = 30;
    beginValue();
    return ignoreOr("the number " + text.substr(0, kMaxShown));
  }
  bool string(std::string& value) {
    beginValue();
    if (place_ == Place::kMetadata) {
      header_.metadata.insert_or_assign(field_, std::move(value));
    } else if (isInTensor() && field_ == kDTypeField) {
      setDType(value);
    } else {
      ignoreOr("the string " + shownName(value));
    }
    return true;
  }
  bool binary(std::vector<std::uint8_t>& /*value*/) { return true; }  // JSON has none
  bool key(std::string& value) {
    if (place_ == Place::kDType) {
      setDType(value);
    } else if (place_ != Place::kIgnored) {
      (place_ == Place::kFile ? name_ : field_) = std::move(value);
    }
    return true;
  }
  bool start_object(std::size_t /*size*/) {
    beginValue();
    descend();
    if (place_ == Place::kStart) {
      place_ = Place::kFile;
    } else if (isInTensor() && field_ == kDTypeField && !fields_.dtype) {
      tensorPlace_ = std::exchange(place_, Place::kDType);
    } else if (beginIgnored()) {
    } else if (place_ != Place::kFile) {
      unexpected("an object");
    } else if (name_ != kSafetensorsMetadataName) {
      place_ = Place::kTensor;
    } else {
      noteMetadata();
      place_ = Place::kMetadata;
    }
    return true;
  }
  bool start_array(std::size_t /*size*/) {
    beginValue();
    descend();
    if (isInTensor() && field_ == kShapeField) {
      begin(fields_.shape);
      tensorPlace_ = std::exchange(place_, Place::kShape);
    } else if (isInTensor() && field_ == kOffsetsField) {
      begin(fields_.offsets);
      tensorPlace_ = std::exchange(place_, Place::kOffsets);
    } else if (beginIgnored()) {
    } else if (place_ == Place::kFile && name_ != kSafetensorsMetadataName) {
      place_ = Place::kTensorList;
      field_.clear();
    } else {
      unexpected("an array");
    }
    return true;
  }
  bool end_array() {
    --depth_;
    if (endIgnored()) {
      return true;
    }
    if (place_ == Place::kTensorList) {
      addTensor();
      place_ = Place::kFile;
    } else {
      place_ = tensorPlace_;
    }
    return true;
  }
  bool end_object() {
    --depth_;
    if (endIgnored()) {
      return true;
    }
    if (place_ == Place::kDType) {
      if (!fields_.dtype) {
        fail(where() + ": " + base::gotExpected("an empty object", expected()));
      }
      place_ = tensorPlace_;
      return true;
    }
    if (place_ == Place::kTensor) {
      addTensor();
    }
    place_ = Place::kFile;  // After the last object the parser ends.
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) {
    fail("the header: " +
         base::gotExpected("invalid JSON at byte " + std::to_string(position), "JSON"));
  }
  // NOLINTEND(readability-identifier-naming)

 private:
  /// The position of the next value.
  enum class Place {
    kStart,
    kFile,
    kMetadata,
    kTensor,      // the fields of a tensor by name
    kTensorList,  // the fields of a tensor in their order, which the format's library reads too
    kShape,
    kOffsets,
    kDType,    // {"F32": null}, which it reads too
    kIgnored,  // in a field that the format does not have
  };

  [[noreturn]] void fail(const std::string& problem) const { failAsDamaged(path_, problem); }

  [[noreturn]] void unexpected(const std::string& got) const {
    fail(where() + ": " + base::gotExpected(got, expected()));
  }

  bool isInTensor() const { return place_ == Place::kTensor || place_ == Place::kTensorList; }

  /// Returns whether nothing reads the next value.
  bool isIgnored() const {
    return place_ == Place::kIgnored || (place_ == Place::kTensor && field_ != kDTypeField &&
                                         field_ != kShapeField && field_ != kOffsetsField);
  }
  bool ignoreOr(const std::string& got) const {
    if (!isIgnored()) {
      unexpected(got);
    }
    return true;
  }
  bool beginIgnored() {
    if (!isIgnored()) {
      return false;
    }
    place_ = Place::kIgnored;
    ++ignoredDepth_;
    return true;
  }
  /// Returns whether the object or array that ends was ignored.
  bool endIgnored() {
    if (place_ != Place::kIgnored) {
      return false;
    }
    if (--ignoredDepth_ == 0) {
      place_ = Place::kTensor;
    }
    return true;
  }

  /// Moves on to the next field of a tensor whose fields have no names.
  void beginValue() {
    if (place_ == Place::kTensorList) {
      field_ = field_.empty()          ? kDTypeField
               : field_ == kDTypeField ? kShapeField
               : field_ == kShapeField ? kOffsetsField
                                       : kSurplusField;
    }
  }

  void descend() {
    if (++depth_ > kMaxDepth) {
      fail("the header: " + base::gotExpected("JSON that nests " + std::to_string(depth_) + " deep",
                                              "at most " + std::to_string(kMaxDepth)));
    }
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

  void noteMetadata() {
    if (std::exchange(hasMetadata_, true)) {
      fail(where() + ": " + base::gotExpected("two entries", "one"));
    }
  }

  void setDType(const std::string& name) {
    if (fields_.dtype) {
      failAsRepeated();
    }
    fields_.dtype = safetensorsDTypeNamed(name);
    if (!fields_.dtype) {
      fail(where() + ": " +
           base::gotExpected(shownName(name), "one of " + safetensorsDTypeNames()));
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
    fail(where() + ": " + base::gotExpected("two values", "one"));
  }

  void addTensor() {
    TensorFields fields = std::exchange(fields_, {});
    const std::string tensor = "tensor " + shownName(name_) + ": ";
    if (!fields.dtype || !fields.shape || !fields.offsets) {
      const char* const missing = !fields.dtype   ? kDTypeField
                                  : !fields.shape ? kShapeField
                                                  : kOffsetsField;
      fail(tensor +
           base::gotExpected(std::string("no ") + missing, "dtype, shape and data_offsets"));
    }
    const std::vector<std::uint64_t>& offsets = *fields.offsets;
    if (offsets.size() != 2) {
      fail(tensor + base::gotExpected("data_offsets [" + base::commaSeparated(offsets) + "]",
                                      "the start and the end of its bytes"));
    }
    header_.tensors.push_back(
        {{name_, *fields.dtype, std::move(*fields.shape)}, offsets[0], offsets[1]});
  }

  const std::string& path_;
  SafetensorsHeader header_;
  Place place_ = Place::kStart;
  Place tensorPlace_ = Place::kTensor;  ///< Around kShape, kOffsets and kDType.
  int depth_ = 0;
  int ignoredDepth_ = 0;
  std::string name_;   ///< Of the tensor, or kSafetensorsMetadataName.
  std::string field_;  ///< Of the tensor, or of the metadata.
  TensorFields fields_;
  bool hasMetadata_ = false;
};

/// Rejects what the parser accepts although it is no JSON: it skips a byte order mark, and takes a
/// NUL for the end of the text.
void checkStartAndEnd(std::string_view json, const std::string& path) {
  const std::size_t begin = json.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || json[begin] != '{') {
    failAsDamaged(path, "the header: " +
                            base::gotExpected("no \"{\" at its start", "a JSON object of tensors"));
  }
  const std::size_t nul = json.find('\0');
  if (nul != std::string_view::npos) {
    failAsDamaged(path,
                  "the header: " + base::gotExpected("a NUL at byte " + std::to_string(nul + 1),
                                                     "JSON, padded with spaces"));
  }
}

}  // namespace

void failAsDamaged(const std::string& path, const std::string& problem) {
  throw Error(ErrorCode::kDataLoss, "cannot read " + path + ": " + problem);
}

SafetensorsHeader readSafetensorsHeader(std::string_view json, const std::string& path) {
  checkStartAndEnd(json, path);
  HeaderListener listener(path);
  nlohmann::json::sax_parse(json.begin(), json.end(), &listener);
  return listener.take();
}

}  // namespace steptape::detail::train
