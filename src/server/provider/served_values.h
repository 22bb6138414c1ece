// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/events/event.h"
#include "steptape/events/record_reader.h"
#include "steptape/log/run_reader.h"

#include "server/store/served_run.h"

namespace steptape::detail::server {

/// Reads values of a run from its files, of which one is open at a time.
///
/// @threads Not thread-safe: one thread at a time.
class ValueReader {
 public:
  explicit ValueReader(std::shared_ptr<const ServedRun> run) : run_(std::move(run)) {}

  /// @return false if the file is gone, or holds something else by now.
  bool read(const ValueLocation& location, event::Value* value);

 private:
  std::shared_ptr<const ServedRun> run_;
  std::shared_ptr<const ByteSource> file_;
  std::uint32_t number_ = ~std::uint32_t{0};
};

/// Returns what a page gets of a value of a tag of tensors: a histogram as its buckets, a value
/// without data as an empty tensor. Nothing if the value is no tensor.
std::optional<event::Tensor> tensorOf(const event::Value& value);

/// Returns what a page gets of a value of a tag of blob sequences: width, height and the images;
/// the clips; a graph. Nothing if the value is none of these.
/// @param plugin That of the tag.
std::optional<std::vector<std::string>> blobsOf(event::Value value, std::string_view plugin);

}  // namespace steptape::detail::server
