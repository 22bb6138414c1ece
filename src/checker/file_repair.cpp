// SPDX-License-Identifier: Apache-2.0
#include "steptape/checker/file_repair.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <system_error>

#include "steptape/base/error.h"
#include "steptape/base/utf8.h"
#include "steptape/event/event_codec.h"
#include "steptape/record/byte_source.h"
#include "steptape/record/record_buffer.h"

#include "base/little_endian.h"
#include "checker/event_text.h"
#include "checker/record_walk.h"
#include "checker/replacement_file.h"
#include "event/scalar_event_view.h"

namespace steptape {
namespace {

namespace fs = std::filesystem;

using detail::RecordWalk;
using detail::ReplacementFile;

constexpr std::size_t kWriteBytes = 1 << 20;
constexpr std::uint64_t kProgressBytes = 4 << 20;

/// Whether an event is nothing but scalars with good tags.
bool isGoodScalars(std::string_view payload, double* wallTime) {
  detail::ScalarEventView event(payload);
  detail::ScalarView scalar;
  while (event.next(&scalar)) {
    if (scalar.hasMetadata || !isValidUtf8(scalar.tag)) {
      return false;
    }
  }
  *wallTime = event.wallTime();
  return event.isWhole();
}

/// What is wrong with an event that both readers refuse; success if nothing is.
Status checkEvent(std::string_view payload, double* wallTime) {
  if (isGoodScalars(payload, wallTime)) {
    return Status();
  }
  Event event;
  if (Status status = decodeEvent(payload, &event); !status.ok()) {
    return status;
  }
  *wallTime = event.wallTime;
  if (detail::findIllFormedText(event) != nullptr) {
    return Status(ErrorCode::kDataLoss, "text that is not UTF-8");
  }
  return Status();
}

/// The first wall time in the file that is one; 0 if there is none.
double firstWallTime(const ByteSource& source) {
  RecordWalk walk(&source);
  for (;;) {
    switch (walk.next()) {
      case RecordWalk::Stretch::kRecord: {
        double wallTime = NAN;
        if (checkEvent(walk.payload(), &wallTime).ok() && std::isfinite(wallTime)) {
          return wallTime;
        }
        break;
      }
      case RecordWalk::Stretch::kDamage:
      case RecordWalk::Stretch::kTail:
        break;
      case RecordWalk::Stretch::kEnd:
      case RecordWalk::Stretch::kIoError:
        return 0;
    }
  }
}

/// The event with another wall time. Of a field that is there twice the last one counts.
std::string withWallTime(std::string_view payload, double wallTime) {
  constexpr char kWallTimeKey = 1 << 3 | 1;  // field 1, 64 bits
  std::uint64_t bits = 0;
  std::memcpy(&bits, &wallTime, sizeof bits);
  char number[sizeof bits];
  detail::storeLittleEndian64(number, bits);
  std::string event(payload);
  event += kWallTimeKey;
  event.append(number, sizeof number);
  return event;
}

/// Copies what is intact from a source to a file.
class Repair {
 public:
  Repair(const ByteSource& source, ReplacementFile* output, const RepairOptions& options,
         RepairReport* report)
      : source_(&source), output_(output), options_(&options), report_(report) {}

  Status run() {
    RecordWalk walk(source_);
    for (;;) {
      switch (walk.next()) {
        case RecordWalk::Stretch::kRecord:
          takeRecord(walk);
          break;
        case RecordWalk::Stretch::kDamage:
        case RecordWalk::Stretch::kTail:
          leaveOut(walk, walk.problem());
          break;
        case RecordWalk::Stretch::kIoError:
          return walk.status();
        case RecordWalk::Stretch::kEnd:
          return flush();
      }
      if (pending_.bytes().size() >= kWriteBytes) {
        if (Status status = flush(); !status.ok()) {
          return status;
        }
      }
      reportProgress(walk.offset() + walk.bytes());
    }
  }

 private:
  void takeRecord(const RecordWalk& walk) {
    const std::string_view payload = walk.payload();
    double wallTime = NAN;
    if (Status status = checkEvent(payload, &wallTime); !status.ok()) {
      leaveOut(walk, status.message());
      return;
    }
    if (std::isfinite(wallTime)) {
      latestWallTime_ = wallTime;
      pending_.append(payload);
    } else {
      pending_.append(withWallTime(payload, replacementTime()));
      addStep({RepairStep::Kind::kTimeSet, walk.offset(), walk.bytes(),
               "wall time " + std::to_string(wallTime) + " set to " +
                   std::to_string(*latestWallTime_)});
    }
    ++report_->recordsKept;
    report_->bytesKept += walk.bytes();
  }

  double replacementTime() {
    if (!latestWallTime_) {
      latestWallTime_ = firstWallTime(*source_);
    }
    return *latestWallTime_;
  }

  void leaveOut(const RecordWalk& walk, const std::string& why) {
    report_->bytesLeftOut += walk.bytes();
    addStep({RepairStep::Kind::kLeftOut, walk.offset(), walk.bytes(), why});
  }

  void addStep(RepairStep step) {
    if (report_->steps.size() < options_->maxSteps) {
      report_->steps.push_back(std::move(step));
    } else {
      ++report_->moreSteps;
    }
  }

  Status flush() {
    Status status = output_->write(pending_.bytes());
    pending_.clear();
    return status;
  }

  void reportProgress(std::uint64_t bytes) {
    if (options_->onProgress && bytes >= nextProgress_) {
      options_->onProgress(bytes);
      nextProgress_ = bytes + kProgressBytes;
    }
  }

  const ByteSource* source_;
  ReplacementFile* output_;
  const RepairOptions* options_;
  RepairReport* report_;
  RecordBuffer pending_;
  std::optional<double> latestWallTime_;
  std::uint64_t nextProgress_ = kProgressBytes;
};

Status ioError(const std::string& path, const std::error_code& error) {
  return Status(ErrorCode::kIoError, "cannot read " + path + ": " + error.message());
}

/// Writes what is intact of `input` to `output`, which does not appear yet.
Status copyIntact(const std::string& input, const RepairOptions& options, ReplacementFile* output,
                  RepairReport* report) {
  try {
    const FileByteSource source(input);
    Status status = output->open();
    if (status.ok()) {
      status = Repair(source, output, options, report).run();
    }
    return status.ok() ? output->finish() : status;
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

Status permissionsOf(const std::string& path, unsigned* permissions) {
  std::error_code error;
  *permissions = static_cast<unsigned>(fs::status(path, error).permissions()) & 0777U;
  return error ? ioError(path, error) : Status();
}

/// The path under which the damaged original stays.
std::string damagedPath(const fs::path& path, int attempt) {
  constexpr std::string_view kInfix = "tfevents";
  std::string name = path.filename().string();
  for (std::size_t at; (at = name.find(kInfix)) != std::string::npos;) {
    name.replace(at, kInfix.size(), "tf-events");
  }
  name += attempt == 0 ? ".damaged" : ".damaged-" + std::to_string(attempt);
  return (path.parent_path() / name).string();
}

Status keepOriginal(const fs::path& path, std::string* original) {
  for (int attempt = 0;; ++attempt) {
    *original = damagedPath(path, attempt);
    const Status status = detail::addName(path.string(), *original);
    if (status.ok() || status.code() != ErrorCode::kFailedPrecondition) {
      return status;
    }
  }
}

}  // namespace

Status repairEventFile(const std::string& input, const std::string& output,
                       const RepairOptions& options, RepairReport* report) {
  *report = RepairReport();
  std::error_code error;
  const bool isThere = fs::exists(output, error);
  if (isThere && fs::equivalent(input, output, error)) {
    throw Error(ErrorCode::kInvalidArgument, "the output is the input: got " + output +
                                                 " for both, want another file for the output");
  }
  if (isThere && !options.overwrite) {
    return Status(ErrorCode::kFailedPrecondition,
                  "cannot write " + output + ": it is there already");
  }
  unsigned permissions = 0;
  if (Status status = permissionsOf(input, &permissions); !status.ok()) {
    return status;
  }
  ReplacementFile file(output, permissions);
  if (Status status = copyIntact(input, options, &file, report); !status.ok()) {
    return status;
  }
  return file.appear(options.overwrite);
}

Status repairEventFileInPlace(const std::string& path, const RepairOptions& options,
                              RepairReport* report) {
  *report = RepairReport();
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  if (error) {
    return ioError(path, error);
  }
  unsigned permissions = 0;
  if (Status status = permissionsOf(target.string(), &permissions); !status.ok()) {
    return status;
  }
  const std::uintmax_t size = fs::file_size(target, error);
  ReplacementFile file(target.string(), permissions);
  if (Status status = copyIntact(target.string(), options, &file, report); !status.ok()) {
    return status;
  }
  // What its writer writes from now on would go to the file that is kept.
  if (error || fs::file_size(target, error) != size || error) {
    return Status(ErrorCode::kFailedPrecondition, "cannot repair " + path +
                                                      " in place: it grew meanwhile, so its writer "
                                                      "is at work");
  }
  if (report->isUnchanged()) {
    return Status();
  }
  if (Status status = keepOriginal(target, &report->original); !status.ok()) {
    report->original.clear();
    return status;
  }
  return file.appear(true);
}

}  // namespace steptape
