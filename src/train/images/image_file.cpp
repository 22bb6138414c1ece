// SPDX-License-Identifier: Apache-2.0
#include "train/images/image_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "steptape/base/status.h"

#include "base/got_expected.h"

namespace steptape {
namespace detail::train {
namespace {

/// No image of the allowed size needs more: four channels of 16 bits, without compression.
constexpr std::int64_t kMaxBytesPerPixel = 8;
constexpr std::int64_t kMaxExtraBytes = 1 << 20;

[[noreturn]] void fail(ErrorCode code, const std::string& path, const std::string& why) {
  throw Error(code, "image " + base::quoted(path) + ": " + why);
}

[[noreturn]] void failWithErrno(const std::string& path, const char* what) {
  fail(ErrorCode::kIoError, path,
       std::string(what) + ": " + std::generic_category().message(errno));
}

class OpenFile {
 public:
  /// Does not wait, should the path be a pipe.
  explicit OpenFile(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Returns the size of a regular file.
std::int64_t sizeOf(const OpenFile& file, const std::string& path, std::int64_t maxBytes) {
  struct stat status {};
  if (file.descriptor() < 0 || ::fstat(file.descriptor(), &status) != 0) {
    failWithErrno(path, "cannot open it");
  }
  if (!S_ISREG(status.st_mode)) {
    fail(ErrorCode::kIoError, path, "it is not a regular file");
  }
  if (status.st_size > maxBytes) {
    fail(ErrorCode::kResourceExhausted, path,
         base::gotExpected(
             std::to_string(status.st_size) + " bytes",
             "at most " + std::to_string(maxBytes) + ", what DecodeOptions::maxPixels allows for"));
  }
  return status.st_size;
}

std::string readBytes(const std::string& path, std::int64_t maxBytes) {
  const OpenFile file(path);
  std::string bytes(static_cast<std::size_t>(sizeOf(file, path, maxBytes)), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::read(file.descriptor(), &bytes[done], bytes.size() - done);
    if (count < 0 && errno != EINTR) {
      failWithErrno(path, "cannot read it");
    }
    if (count == 0) {
      break;  // It has become shorter; the decoder says what is missing.
    }
    done += static_cast<std::size_t>(std::max<ssize_t>(0, count));
  }
  bytes.resize(done);
  return bytes;
}

bool beginsWith(const std::string& bytes, const char* start) {
  return bytes.compare(0, std::strlen(start), start) == 0;
}

std::unique_ptr<ImageDecoder> open(const std::string& bytes, const std::string& path) {
  if (beginsWith(bytes, "\xff\xd8")) {
    return openJpeg(bytes);
  }
  if (beginsWith(bytes, "\x89PNG")) {
    return openPng(bytes);
  }
  fail(ErrorCode::kDataLoss, path,
       base::gotExpected(bytes.empty()
                             ? "an empty file"
                             : "a file that begins with " + base::quoted(bytes.substr(0, 8)),
                         "a JPEG or PNG file"));
}

void checkPixels(Size size, const std::string& path, std::int64_t maxPixels) {
  if (size.width * size.height > maxPixels) {
    fail(ErrorCode::kResourceExhausted, path,
         base::gotExpected(
             std::to_string(size.width) + " x " + std::to_string(size.height) + " pixels",
             "at most " + std::to_string(maxPixels) +
                 " in all, or a larger "
                 "DecodeOptions::maxPixels"));
  }
}

/// The least size that gives the first step every detail that its result shows.
Size leastFor(const ImagePlan& plan) {
  return plan[0].resized;
}

}  // namespace

void readImage(const std::string& path, const DecodeOptions& options, const PlanOf& planOf,
               const UsePart& use) {
  const std::string bytes = readBytes(path, kMaxBytesPerPixel * options.maxPixels + kMaxExtraBytes);
  ImagePlan plan;
  DecodedPart part;
  try {
    const std::unique_ptr<ImageDecoder> decoder = open(bytes, path);
    checkPixels(decoder->size(), path, options.maxPixels);
    plan = planOf(decoder->size());
    part = decoder->decode(plan[0].crop, leastFor(plan));
  } catch (const Error&) {
    throw;
  } catch (const std::runtime_error& error) {
    fail(ErrorCode::kDataLoss, path, std::string("damaged: ") + error.what());
  }
  use(part, plan);
}

}  // namespace detail::train

Image decodeImage(const std::string& path, const DecodeOptions& options) {
  SampleRandom unused(0, 0, 0);
  Image image;
  detail::train::readImage(
      path, options,
      [&](detail::train::Size size) { return detail::train::planImage(size, {}, unused); },
      [&](const detail::train::DecodedPart& part, const detail::train::ImagePlan& plan) {
        image = detail::train::runPlan(part.view, part.box, plan);
      });
  return image;
}

}  // namespace steptape
