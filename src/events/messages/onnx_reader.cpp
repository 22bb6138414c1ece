// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "steptape/base/status.h"
#include "steptape/wire/onnx.pb.h"

#include "base/got_expected.h"
#include "base/text.h"
#include "events/messages/onnx.h"
#include "events/messages/onnx_filter.h"

namespace steptape {
namespace {

// From this format version on, a model declares its operator sets.
constexpr std::int64_t kFirstVersionWithOpsets = 3;

/// An element type of ONNX.
struct OnnxType {
  const char* name;
  int tensorFlow;  // 0 if it has none
};

/// Each type at the place of its number. ONNX's names are shown where TensorFlow has no type.
/// @source onnx/onnx.proto, TensorProto.DataType, of onnx 1.23 (IR version 14);
///         tensorflow/core/framework/types.proto of TensorFlow 2.21
constexpr std::array kTypes{
    OnnxType{"UNDEFINED", 0},       OnnxType{"FLOAT", 1},
    OnnxType{"UINT8", 4},           OnnxType{"INT8", 6},
    OnnxType{"UINT16", 17},         OnnxType{"INT16", 5},
    OnnxType{"INT32", 3},           OnnxType{"INT64", 9},
    OnnxType{"STRING", 7},          OnnxType{"BOOL", 10},
    OnnxType{"FLOAT16", 19},        OnnxType{"DOUBLE", 2},
    OnnxType{"UINT32", 22},         OnnxType{"UINT64", 23},
    OnnxType{"COMPLEX64", 8},       OnnxType{"COMPLEX128", 18},
    OnnxType{"BFLOAT16", 14},       OnnxType{"FLOAT8E4M3FN", 25},
    OnnxType{"FLOAT8E4M3FNUZ", 26}, OnnxType{"FLOAT8E5M2", 24},
    OnnxType{"FLOAT8E5M2FNUZ", 28}, OnnxType{"UINT4", 30},
    OnnxType{"INT4", 29},           OnnxType{"FLOAT4E2M1", 33},
    OnnxType{"FLOAT8E8M0", 0},      OnnxType{"UINT2", 32},
    OnnxType{"INT2", 31},           OnnxType{"FLOAT6E2M3", 0},
    OnnxType{"FLOAT6E3M2", 0},
};
static_assert(kTypes.size() == 29);

detail::events::OnnxValue valueOfType(std::string name, std::int32_t dataType) {
  detail::events::OnnxValue value{std::move(name)};
  if (dataType < 0 || static_cast<std::size_t>(dataType) >= kTypes.size()) {
    value.otherType = "ONNX type " + std::to_string(dataType);
    return value;
  }
  const OnnxType& type = kTypes[static_cast<std::size_t>(dataType)];
  value.type = static_cast<event::TensorType>(type.tensorFlow);
  if (type.tensorFlow == 0 && dataType != 0) {
    value.otherType = type.name;
  }
  return value;
}

/// Values of AttributeProto.AttributeType; the other types have no value to show.
enum AttributeType : std::int32_t {
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kSparseTensor = 11,
};

template <typename T, typename Repeated>
std::vector<T> toVector(const Repeated& repeated) {
  return {repeated.begin(), repeated.end()};
}

detail::events::OnnxValue decode(const wire::OnnxTensor& proto) {
  detail::events::OnnxValue value = valueOfType(proto.name(), proto.data_type());
  value.shape = toVector<std::int64_t>(proto.dims());
  return value;
}

detail::events::OnnxValue decode(const wire::OnnxSparseTensor& proto) {
  detail::events::OnnxValue value = decode(proto.values());
  value.shape = toVector<std::int64_t>(proto.dims());
  return value;
}

detail::events::OnnxValue decode(const wire::OnnxValueInfo& proto) {
  const wire::OnnxType::Tensor& type = proto.type().tensor_type();
  detail::events::OnnxValue value = valueOfType(proto.name(), type.elem_type());
  if (type.has_shape()) {
    value.shape.emplace();
    for (const wire::OnnxShape::Dimension& dimension : type.shape().dim()) {
      const bool known = dimension.value_case() == wire::OnnxShape::Dimension::kDimValue;
      value.shape->push_back(known ? dimension.dim_value() : -1);
    }
  }
  return value;
}

event::GraphAttribute valueOf(const wire::OnnxAttribute& proto) {
  switch (proto.type()) {
    case kFloat:
      return double{proto.f()};
    case kInt:
      return std::int64_t{proto.i()};
    case kString:
      return proto.s();
    case kTensor:
      return "(" + detail::base::commaSeparated(proto.t().dims()) + ")";
    case kFloats:
      return toVector<double>(proto.floats());
    case kInts:
      return toVector<std::int64_t>(proto.ints());
    case kStrings:
      return toVector<std::string>(proto.strings());
    case kTensors: {
      std::vector<std::string> shapes;
      for (const wire::OnnxTensor& tensor : proto.tensors()) {
        shapes.push_back("(" + detail::base::commaSeparated(tensor.dims()) + ")");
      }
      return shapes;
    }
    case kSparseTensor:
      return "(" + detail::base::commaSeparated(proto.sparse_tensor().dims()) + ")";
    default:
      return std::string();
  }
}

detail::events::OnnxGraph decode(const wire::OnnxGraph& proto);

detail::events::OnnxNode decode(const wire::OnnxNode& proto) {
  detail::events::OnnxNode node{proto.name(),
                                proto.op_type(),
                                proto.domain(),
                                toVector<std::string>(proto.input()),
                                toVector<std::string>(proto.output()),
                                {}};
  for (const wire::OnnxAttribute& attribute : proto.attribute()) {
    detail::events::OnnxAttribute& decoded = node.attributes.emplace_back();
    decoded.name = attribute.name();
    decoded.value = valueOf(attribute);
    if (attribute.has_g()) {
      decoded.graphs.push_back(decode(attribute.g()));
    }
    for (const wire::OnnxGraph& graph : attribute.graphs()) {
      decoded.graphs.push_back(decode(graph));
    }
  }
  return node;
}

template <typename Protos, typename Decoded>
void decodeAll(const Protos& protos, std::vector<Decoded>* decoded) {
  decoded->reserve(decoded->size() + static_cast<std::size_t>(protos.size()));
  for (const auto& proto : protos) {
    decoded->push_back(decode(proto));
  }
}

detail::events::OnnxGraph decode(const wire::OnnxGraph& proto) {
  detail::events::OnnxGraph graph;
  decodeAll(proto.node(), &graph.nodes);
  decodeAll(proto.input(), &graph.inputs);
  decodeAll(proto.output(), &graph.outputs);
  decodeAll(proto.initializer(), &graph.initializers);
  decodeAll(proto.sparse_initializer(), &graph.initializers);
  decodeAll(proto.value_info(), &graph.valueInfos);
  return graph;
}

/// Rejects well-formed messages that are not ONNX models, such as an empty file.
void checkIsModel(const wire::OnnxModel& proto, const std::string& name) {
  const std::string where = "addOnnxGraph \"" + name + "\"";
  if (proto.ir_version() <= 0) {
    detail::base::reject("IR version " + std::to_string(proto.ir_version()), "a whole ONNX model",
                         where);
  }
  if (!proto.has_graph()) {
    detail::base::reject("no graph", "a whole ONNX model", where);
  }
  if (proto.ir_version() >= kFirstVersionWithOpsets && proto.opset_import().empty()) {
    detail::base::reject("no operator set", "a whole ONNX model", where);
  }
}

detail::events::OnnxModel readModel(std::istream* in, std::uint64_t size, const std::string& name) {
  wire::OnnxModel proto;
  if (!proto.ParseFromString(detail::events::keepOnnxStructure(in, size, name))) {
    detail::base::reject("a damaged list of numbers", "a whole ONNX model",
                         "addOnnxGraph \"" + name + "\"");
  }
  checkIsModel(proto, name);
  detail::events::OnnxModel model;
  model.source = name;
  model.irVersion = proto.ir_version();
  model.producerName = proto.producer_name();
  model.producerVersion = proto.producer_version();
  for (const wire::OnnxOperatorSet& opset : proto.opset_import()) {
    model.opsets.emplace_back(opset.domain(), opset.version());
  }
  model.graph = decode(proto.graph());
  return model;
}

}  // namespace

detail::events::OnnxModel detail::events::readOnnxModel(const std::string& path) {
  const auto refuse = [&](const std::string& reason) {
    throw Error(ErrorCode::kIoError,
                "addOnnxGraph \"" + path + "\": cannot read the file: " + reason);
  };
  std::error_code error;
  // Checked first: opening a FIFO would wait for its writer.
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (error) {
    refuse(error.message());
  }
  if (!std::filesystem::is_regular_file(status)) {
    refuse(detail::base::gotExpected(
        std::filesystem::is_directory(status) ? "a directory" : "a special file",
        "a regular file"));
  }
  const std::uint64_t size = std::filesystem::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  if (error || !in) {
    refuse(error ? error.message() : std::generic_category().message(errno));
  }
  return readModel(&in, size, path);
}

detail::events::OnnxModel detail::events::parseOnnxModel(std::string_view bytes,
                                                         const std::string& name) {
  std::istringstream in{std::string(bytes)};
  return readModel(&in, bytes.size(), name);
}

}  // namespace steptape
