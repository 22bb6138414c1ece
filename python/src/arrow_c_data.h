// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The structs of the Arrow C data interface and its stream: an ABI, whose names and order of fields
// every producer and consumer declares for itself.
// @source https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html
extern "C" {
// NOLINTBEGIN(readability-identifier-naming): the names of the specification.

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema* self);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray* self);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream* self, ArrowSchema* schema);
  int (*get_next)(ArrowArrayStream* self, ArrowArray* array);
  const char* (*get_last_error)(ArrowArrayStream* self);
  void (*release)(ArrowArrayStream* self);
  void* private_data;
};

// NOLINTEND(readability-identifier-naming)
}
