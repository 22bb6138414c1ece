// SPDX-License-Identifier: Apache-2.0
#include "writer/scalar_json_export.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>
#include <variant>

#include "steptape/event/event_codec.h"
#include "steptape/record/record_reader.h"

#include "event/scalar_json.h"
#include "event/scalar_spool.h"
#include "writer/writer_core.h"

namespace steptape {
namespace {

using detail::ScalarSpool;

constexpr std::size_t kMaxPoints = (std::size_t{16} << 20) / sizeof(ScalarSpool::Point);

Status systemError(const char* what, const std::string& path) {
  return {ErrorCode::kIoError,
          std::string(what) + " " + path + ": " + std::generic_category().message(errno)};
}

/// The number in a rank-0 DT_FLOAT tensor, the only form this writer gives scalars.
std::optional<float> scalarOf(const Value& value) {
  const auto* const tensor = std::get_if<Tensor>(&value.data);
  if (tensor == nullptr || tensor->type != TensorType::kFloat || !tensor->shape.empty() ||
      tensor->content.size() != sizeof(float)) {
    return std::nullopt;
  }
  float number;
  std::memcpy(&number, tensor->content.data(), sizeof(number));
  return number;
}

Status spoolFile(const WriterCore& core, const WriterCore::File& file, ScalarSpool* spool) {
  std::unique_ptr<FileByteSource> source;
  try {
    source = std::make_unique<FileByteSource>(file.path);
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  const bool isSubRun = file.directory != core.directory();
  RecordReader records(std::move(source));
  std::string_view payload;
  ReadOutcome outcome;
  while ((outcome = records.next(&payload)) == ReadOutcome::kRecord) {
    Event event;
    if (const Status decoded = decodeEvent(payload, &event); !decoded.ok()) {
      return decoded;
    }
    const auto* const summary = std::get_if<Summary>(&event.what);
    if (summary == nullptr) {
      continue;
    }
    for (const Value& value : summary->values) {
      if (const std::optional<float> number = scalarOf(value)) {
        // tensorboardX's keys: a curve of addScalars() is known by its directory.
        const std::string key = isSubRun ? file.directory : file.directory + "/" + value.tag;
        const Status added = spool->add(spool->series(key),
                                        {event.wallTime, event.step, static_cast<double>(*number)});
        if (!added.ok()) {
          return added;
        }
      }
    }
  }
  return outcome == ReadOutcome::kTruncated ? Status() : records.lastError();
}

/// A file that remembers whether writing it went well.
class TextFile {
 public:
  explicit TextFile(const std::string& path) : file_(std::fopen(path.c_str(), "wb")) {}
  ~TextFile() {
    if (file_ != nullptr) {
      std::fclose(file_);
    }
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  bool isOpen() const { return file_ != nullptr; }
  void write(std::string_view text) {
    ok_ = ok_ && std::fwrite(text.data(), 1, text.size(), file_) == text.size();
  }
  /// @return false if anything could not be written; errno then says why.
  bool close() {
    const bool closed = std::fclose(file_) == 0;
    file_ = nullptr;
    return ok_ && closed;
  }

 private:
  std::FILE* file_;
  bool ok_ = true;
};

Status writeJson(ScalarSpool* spool, const std::string& path) {
  TextFile file(path);
  if (!file.isOpen()) {
    return systemError("cannot create", path);
  }
  Status status = detail::writeScalarJson(spool, [&](std::string_view text) { file.write(text); });
  if (!file.close() && status.ok()) {
    status = systemError("cannot write", path);
  }
  return status;
}

}  // namespace

Status exportScalars(const WriterCore& core, const std::string& path) {
  ScalarSpool spool(path + ".spool", kMaxPoints);
  for (const WriterCore::File& file : core.files()) {
    Status spooled = spoolFile(core, file, &spool);
    if (!spooled.ok()) {
      return spooled;
    }
  }
  const std::string unfinished = path + ".unfinished";
  Status written = writeJson(&spool, unfinished);
  if (written.ok() && std::rename(unfinished.c_str(), path.c_str()) != 0) {
    written = systemError("cannot create", path);
  }
  if (!written.ok()) {
    std::remove(unfinished.c_str());
  }
  return written;
}

}  // namespace steptape
