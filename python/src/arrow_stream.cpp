// SPDX-License-Identifier: Apache-2.0
#include "arrow_stream.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <limits>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "new_column.h"

namespace steptape::python {
namespace {

constexpr std::size_t kBatchRows = std::size_t{1} << 20;

/// The strings of an Arrow array of type utf8.
struct Utf8Strings {
  explicit Utf8Strings(const std::vector<std::string>& strings) {
    for (const std::string& string : strings) {
      text += steptape::detail::base::replaceInvalidUtf8(string);  // consumers do not check it
      offsets.push_back(static_cast<std::int32_t>(text.size()));
    }
  }

  std::vector<std::int32_t> offsets{0};
  std::string text;
};

// The private_data of an exported struct owns its data. A consumer may move a child out of its
// parent and release it later, so every struct owns what it points to.

struct SchemaParts {
  std::vector<std::unique_ptr<ArrowSchema>> children;
  std::vector<ArrowSchema*> childPointers;
  std::unique_ptr<ArrowSchema> dictionary;
};

struct ArrayParts {
  std::vector<const void*> buffers;
  std::vector<std::shared_ptr<const void>> owners;
  std::vector<std::unique_ptr<ArrowArray>> children;
  std::vector<ArrowArray*> childPointers;
  std::unique_ptr<ArrowArray> dictionary;
};

template <typename Struct>
void releaseOne(Struct* child) {
  if (child != nullptr && child->release != nullptr) {
    child->release(child);
  }
}

template <typename Struct, typename Parts>
void release(Struct* self) {
  const std::unique_ptr<Parts> parts(static_cast<Parts*>(self->private_data));
  for (const std::unique_ptr<Struct>& child : parts->children) {
    releaseOne(child.get());
  }
  releaseOne(parts->dictionary.get());
  self->release = nullptr;
}

template <typename Struct, typename Parts>
void attach(std::unique_ptr<Parts> parts, Struct* to) {
  for (const std::unique_ptr<Struct>& child : parts->children) {
    parts->childPointers.push_back(child.get());
  }
  to->n_children = static_cast<std::int64_t>(parts->childPointers.size());
  to->children = parts->childPointers.data();
  to->dictionary = parts->dictionary.get();
  to->release = &release<Struct, Parts>;
  to->private_data = parts.release();
}

std::unique_ptr<ArrowSchema> makeSchema(const char* format, const char* name,
                                        std::unique_ptr<ArrowSchema> dictionary = nullptr) {
  auto schema = std::make_unique<ArrowSchema>();
  *schema = {};
  schema->format = format;
  schema->name = name;
  auto parts = std::make_unique<SchemaParts>();
  parts->dictionary = std::move(dictionary);
  attach(std::move(parts), schema.get());
  return schema;
}

// Format strings of the specification.
constexpr char kUtf8[] = "u";
constexpr char kInt32[] = "i";
constexpr char kInt64[] = "l";
constexpr char kFloat64[] = "g";
constexpr char kStruct[] = "+s";

void exportSchema(ArrowSchema* schema) {
  auto parts = std::make_unique<SchemaParts>();
  parts->children.push_back(makeSchema(kInt32, "run", makeSchema(kUtf8, "")));
  parts->children.push_back(makeSchema(kInt32, "tag", makeSchema(kUtf8, "")));
  parts->children.push_back(makeSchema(kInt64, "step"));
  parts->children.push_back(makeSchema(kFloat64, "wall_time"));
  parts->children.push_back(makeSchema(kFloat64, "value"));
  *schema = {};
  schema->format = kStruct;
  schema->name = "";
  attach(std::move(parts), schema);
}

/// Makes an array without nulls of `buffers`, which `owners` keep alive.
std::unique_ptr<ArrowArray> makeArray(std::size_t length, std::vector<const void*> buffers,
                                      std::vector<std::shared_ptr<const void>> owners,
                                      std::unique_ptr<ArrowArray> dictionary = nullptr) {
  auto array = std::make_unique<ArrowArray>();
  *array = {};
  auto parts = std::make_unique<ArrayParts>();
  parts->buffers.push_back(nullptr);  // the null bitmap
  parts->buffers.insert(parts->buffers.end(), buffers.begin(), buffers.end());
  parts->owners = std::move(owners);
  parts->dictionary = std::move(dictionary);
  array->length = static_cast<std::int64_t>(length);
  array->n_buffers = static_cast<std::int64_t>(parts->buffers.size());
  array->buffers = parts->buffers.data();
  attach(std::move(parts), array.get());
  return array;
}

std::unique_ptr<ArrowArray> makeStrings(const std::shared_ptr<const Utf8Strings>& strings) {
  return makeArray(strings->offsets.size() - 1, {strings->offsets.data(), strings->text.data()},
                   {strings});
}

template <typename T>
std::unique_ptr<ArrowArray> makeNumbers(std::size_t length, const std::shared_ptr<T[]>& numbers,
                                        std::unique_ptr<ArrowArray> dictionary = nullptr) {
  return makeArray(length, {numbers.get()}, {numbers}, std::move(dictionary));
}

class Stream {
 public:
  explicit Stream(std::shared_ptr<const Table> table)
      : table_(std::move(table)),
        runs_(std::make_shared<const Utf8Strings>(table_->runNames())),
        tags_(std::make_shared<const Utf8Strings>(table_->tagNames())) {}

  /// Exports the next batch; at the end, a released array.
  void next(ArrowArray* batch) {
    *batch = {};
    const std::size_t count = std::min(kBatchRows, table_->rows() - row_);
    if (count == 0) {
      return;
    }
    exportRows(count, batch);
    row_ += count;
  }

 private:
  void exportRows(std::size_t count, ArrowArray* batch) const {
    const std::shared_ptr<std::int32_t[]> runs = newColumn<std::int32_t>(count);
    const std::shared_ptr<std::int32_t[]> tags = newColumn<std::int32_t>(count);
    const std::shared_ptr<std::int64_t[]> steps = newColumn<std::int64_t>(count);
    const std::shared_ptr<double[]> wallTimes = newColumn<double>(count);
    const std::shared_ptr<double[]> values = newColumn<double>(count);
    table_->copy<std::int32_t>(
        row_, count, {runs.get(), tags.get(), steps.get(), wallTimes.get(), values.get()});
    auto parts = std::make_unique<ArrayParts>();
    parts->buffers.push_back(nullptr);
    parts->children.push_back(makeNumbers(count, runs, makeStrings(runs_)));
    parts->children.push_back(makeNumbers(count, tags, makeStrings(tags_)));
    parts->children.push_back(makeNumbers(count, steps));
    parts->children.push_back(makeNumbers(count, wallTimes));
    parts->children.push_back(makeNumbers(count, values));
    batch->length = static_cast<std::int64_t>(count);
    batch->n_buffers = 1;
    batch->buffers = parts->buffers.data();
    attach(std::move(parts), batch);
  }

  std::shared_ptr<const Table> table_;
  std::shared_ptr<const Utf8Strings> runs_;
  std::shared_ptr<const Utf8Strings> tags_;
  std::size_t row_ = 0;
};

/// Runs `make`, which fails only if there is not enough memory.
template <typename Make>
int errorCodeOf(Make make) {
  try {
    make();
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

Stream* streamOf(ArrowArrayStream* self) {
  return static_cast<Stream*>(self->private_data);
}

}  // namespace

void exportStream(std::shared_ptr<const Table> table, ArrowArrayStream* stream) {
  stream->private_data = new Stream(std::move(table));
  stream->get_schema = [](ArrowArrayStream* /*self*/, ArrowSchema* schema) {
    return errorCodeOf([&] { exportSchema(schema); });
  };
  stream->get_next = [](ArrowArrayStream* self, ArrowArray* batch) {
    return errorCodeOf([&] { streamOf(self)->next(batch); });
  };
  stream->get_last_error = [](ArrowArrayStream* /*self*/) -> const char* {
    return "out of memory";
  };
  stream->release = [](ArrowArrayStream* self) {
    delete streamOf(self);
    self->release = nullptr;
  };
}

}  // namespace steptape::python
