// SPDX-License-Identifier: Apache-2.0
//
// Protocol Buffers reads complete messages, including unknown fields, and rejects 2 GiB or more.
// Therefore this filter first copies the fields that are needed from nested messages, and seeks
// past all others.
#include "events/messages/onnx_filter.h"

#include <algorithm>
#include <array>

#include "steptape/base/status.h"

#include "base/got_expected.h"
#include "events/messages/wire_format.h"

namespace steptape::detail::events {
namespace {

// Limits the memory for a hostile file; larger than the structure of any real model. Counts the
// copied bytes and an estimate of the decoded size of each field.
constexpr std::uint64_t kMaxStructureBytes = 1 << 30;
constexpr std::uint64_t kMessageBytes = 128;
constexpr std::uint64_t kOnnxNumberBytes = 16;
// Less than the limit of Protocol Buffers, 100. Each nested loop adds three.
constexpr int kMaxDepth = 90;
// Each node of a scope repeats the scope's name.
constexpr std::uint64_t kMaxNameBytes = 4096;
// TensorBoard's page shows no more of an attribute; some attributes hold a compiled engine.
constexpr std::uint64_t kMaxTextBytes = 1024;
// Reads through shorter gaps, because a seek discards the stream's buffer.
constexpr std::uint64_t kMinSeekBytes = 64 << 10;

// Wire types that wire_format.h does not need.
constexpr std::uint32_t kFixed32 = 5;
constexpr std::uint32_t kVarint = static_cast<std::uint32_t>(WireType::kVarint);
constexpr std::uint32_t kFixed64 = static_cast<std::uint32_t>(WireType::kFixed64);
constexpr std::uint32_t kLengthDelimited = static_cast<std::uint32_t>(WireType::kLengthDelimited);

enum class Message {
  kModel,
  kOperatorSet,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparseTensor,
  kValueInfo,
  kType,
  kTensorType,
  kShape,
  kDimension,
};

enum class Keep {
  kNumber,   // one number, or several packed
  kName,     // complete
  kText,     // truncated to kMaxTextBytes
  kMessage,  // the needed fields of `child`
};

struct Field {
  Message message;
  std::uint32_t number;
  Keep keep;
  Message child = Message::kModel;
};

// The fields of proto/steptape/wire/onnx.proto.
constexpr std::array kFields{
    Field{Message::kModel, 1, Keep::kNumber},  // ir_version
    Field{Message::kModel, 2, Keep::kText},    // producer_name
    Field{Message::kModel, 3, Keep::kText},    // producer_version
    Field{Message::kModel, 7, Keep::kMessage, Message::kGraph},
    Field{Message::kModel, 8, Keep::kMessage, Message::kOperatorSet},

    Field{Message::kOperatorSet, 1, Keep::kName},    // domain
    Field{Message::kOperatorSet, 2, Keep::kNumber},  // version

    Field{Message::kGraph, 1, Keep::kMessage, Message::kNode},
    Field{Message::kGraph, 5, Keep::kMessage, Message::kTensor},      // initializer
    Field{Message::kGraph, 11, Keep::kMessage, Message::kValueInfo},  // input
    Field{Message::kGraph, 12, Keep::kMessage, Message::kValueInfo},  // output
    Field{Message::kGraph, 13, Keep::kMessage, Message::kValueInfo},  // value_info
    Field{Message::kGraph, 15, Keep::kMessage, Message::kSparseTensor},

    Field{Message::kNode, 1, Keep::kName},  // input
    Field{Message::kNode, 2, Keep::kName},  // output
    Field{Message::kNode, 3, Keep::kName},  // name
    Field{Message::kNode, 4, Keep::kName},  // op_type
    Field{Message::kNode, 5, Keep::kMessage, Message::kAttribute},
    Field{Message::kNode, 7, Keep::kName},  // domain

    Field{Message::kAttribute, 1, Keep::kName},    // name
    Field{Message::kAttribute, 2, Keep::kNumber},  // f
    Field{Message::kAttribute, 3, Keep::kNumber},  // i
    Field{Message::kAttribute, 4, Keep::kText},    // s
    Field{Message::kAttribute, 5, Keep::kMessage, Message::kTensor},
    Field{Message::kAttribute, 6, Keep::kMessage, Message::kGraph},
    Field{Message::kAttribute, 7, Keep::kNumber},  // floats
    Field{Message::kAttribute, 8, Keep::kNumber},  // ints
    Field{Message::kAttribute, 9, Keep::kText},    // strings
    Field{Message::kAttribute, 10, Keep::kMessage, Message::kTensor},
    Field{Message::kAttribute, 11, Keep::kMessage, Message::kGraph},
    Field{Message::kAttribute, 20, Keep::kNumber},  // type
    Field{Message::kAttribute, 22, Keep::kMessage, Message::kSparseTensor},

    Field{Message::kTensor, 1, Keep::kNumber},  // dims
    Field{Message::kTensor, 2, Keep::kNumber},  // data_type
    Field{Message::kTensor, 8, Keep::kName},    // name

    Field{Message::kSparseTensor, 1, Keep::kMessage, Message::kTensor},  // values
    Field{Message::kSparseTensor, 3, Keep::kNumber},                     // dims

    Field{Message::kValueInfo, 1, Keep::kName},  // name
    Field{Message::kValueInfo, 2, Keep::kMessage, Message::kType},

    Field{Message::kType, 1, Keep::kMessage, Message::kTensorType},

    Field{Message::kTensorType, 1, Keep::kNumber},  // elem_type
    Field{Message::kTensorType, 2, Keep::kMessage, Message::kShape},

    Field{Message::kShape, 1, Keep::kMessage, Message::kDimension},

    Field{Message::kDimension, 1, Keep::kNumber},  // dim_value
    Field{Message::kDimension, 2, Keep::kName},    // dim_param
};

const Field* findField(Message message, std::uint64_t number) {
  const auto* found = std::find_if(kFields.begin(), kFields.end(), [&](const Field& field) {
    return field.message == message && field.number == number;
  });
  return found == kFields.end() ? nullptr : found;
}

class Filter {
 public:
  Filter(std::istream* in, std::uint64_t size, const std::string& name)
      : in_(*in->rdbuf()), size_(size), name_(name) {}

  std::string run() {
    std::string kept;
    keepMessage(Message::kModel, size_, 0, &kept);
    return kept;
  }

 private:
  void keepMessage(Message message, std::uint64_t end, int depth, std::string* out) {
    if (depth > kMaxDepth) {
      refuse("messages nested more than " + std::to_string(kMaxDepth) + " deep");
    }
    while (position_ < end) {
      const std::uint64_t key = readVarint(end);
      const std::uint64_t number = key >> 3;
      const auto wireType = static_cast<std::uint32_t>(key & 7);
      if (number == 0) {
        refuse("a field numbered 0");
      }
      if (const Field* field = findField(message, number)) {
        keepField(*field, wireType, end, depth, out);
      } else {
        skip(valueBytes(wireType, end));
      }
    }
  }

  void keepField(const Field& field, std::uint32_t wireType, std::uint64_t end, int depth,
                 std::string* out) {
    if (field.keep != Keep::kNumber && wireType != kLengthDelimited) {
      refuse("field " + std::to_string(field.number) + " of wire type " + std::to_string(wireType) +
             " instead of " + std::to_string(kLengthDelimited));
    }
    charge(field.keep == Keep::kNumber ? kOnnxNumberBytes : kMessageBytes);
    if (wireType == kVarint) {
      appendVarintField(out, field.number, readVarint(end));
      return;
    }
    const std::uint64_t bytes = valueBytes(wireType, end);
    switch (field.keep) {
      case Keep::kNumber:
        appendVarint(out, std::uint64_t{field.number} << 3 | wireType);
        if (wireType == kLengthDelimited) {
          appendVarint(out, bytes);
        }
        copy(bytes, out);
        break;
      case Keep::kName:
        if (bytes > kMaxNameBytes) {
          refuse("a name of " + std::to_string(bytes) + " bytes, more than " +
                 std::to_string(kMaxNameBytes));
        }
        copyText(field.number, bytes, out);
        break;
      case Keep::kText:
        copyText(field.number, std::min(bytes, kMaxTextBytes), out);
        skip(bytes - std::min(bytes, kMaxTextBytes));
        break;
      case Keep::kMessage: {
        std::string child;
        keepMessage(field.child, position_ + bytes, depth + 1, &child);
        appendBytesField(out, field.number, child);
        break;
      }
    }
  }

  /// Returns the size of the value after a key, and after its length if it has one.
  std::uint64_t valueBytes(std::uint32_t wireType, std::uint64_t end) {
    std::uint64_t bytes = 0;
    switch (wireType) {
      case kVarint:
        readVarint(end);
        break;
      case kFixed32:
        bytes = 4;
        break;
      case kFixed64:
        bytes = 8;
        break;
      case kLengthDelimited:
        bytes = readVarint(end);
        break;
      default:
        refuse("wire type " + std::to_string(wireType));
    }
    if (bytes > end - position_) {
      refuse("a value of " + std::to_string(bytes) + " bytes where " +
             std::to_string(end - position_) + " are left");
    }
    return bytes;
  }

  std::uint64_t readVarint(std::uint64_t end) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && position_ < end; shift += 7) {
      const int byte = in_.sbumpc();
      if (byte == std::istream::traits_type::eof()) {
        failToRead();
      }
      ++position_;
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) {
        return value;
      }
    }
    refuse("a number that does not end");
  }

  void copyText(std::uint32_t number, std::uint64_t bytes, std::string* out) {
    appendFieldKey(out, number, WireType::kLengthDelimited);
    appendVarint(out, bytes);
    copy(bytes, out);
  }

  void charge(std::uint64_t bytes) {
    kept_ += bytes;
    if (kept_ > kMaxStructureBytes) {
      const std::string mebibytes = std::to_string(kMaxStructureBytes >> 20) + " MiB";
      base::reject("more than " + mebibytes + " besides the tensors", "at most " + mebibytes,
                   where());
    }
  }

  void copy(std::uint64_t bytes, std::string* out) {
    charge(bytes);
    const std::size_t before = out->size();
    out->resize(before + bytes);
    readExactly(&(*out)[before], bytes);
  }

  void skip(std::uint64_t bytes) {
    if (bytes >= kMinSeekBytes) {
      const auto offset = static_cast<std::streamoff>(bytes);
      if (in_.pubseekoff(offset, std::ios::cur, std::ios::in) == std::streampos(-1)) {
        failToRead();
      }
      position_ += bytes;
      return;
    }
    scratch_.resize(bytes);
    readExactly(scratch_.data(), bytes);
  }

  void readExactly(char* data, std::uint64_t bytes) {
    const auto size = static_cast<std::streamsize>(bytes);
    if (in_.sgetn(data, size) != size) {
      failToRead();
    }
    position_ += bytes;
  }

  [[noreturn]] void refuse(const std::string& found) const {
    base::reject(found + " at byte " + std::to_string(position_) + " of " + std::to_string(size_),
                 "a whole ONNX model", where());
  }

  [[noreturn]] void failToRead() const {
    throw Error(ErrorCode::kIoError, where() + ": cannot read the file after byte " +
                                         std::to_string(position_) + " of " +
                                         std::to_string(size_));
  }

  std::string where() const { return "addOnnxGraph \"" + name_ + "\""; }

  std::streambuf& in_;
  const std::uint64_t size_;
  const std::string& name_;
  std::uint64_t position_ = 0;
  std::uint64_t kept_ = 0;
  std::string scratch_;
};

}  // namespace

std::string keepOnnxStructure(std::istream* in, std::uint64_t size, const std::string& name) {
  return Filter(in, size, name).run();
}

}  // namespace steptape::detail::events
