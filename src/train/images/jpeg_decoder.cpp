// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <jerror.h>
#include <jpeglib.h>
#include <stdexcept>

#include "train/images/image_decoder.h"

namespace steptape::detail::train {
namespace {

constexpr std::int64_t kMostReduced = 8;
/// Columns that are decoded beside the crop, because upsampled colors depend on the neighbors. More
/// than any block of a JPEG has.
constexpr std::int64_t kMargin = 32;

/// libjpeg is C; after an error the only way out of it is a jump.
struct JpegErrors : jpeg_error_mgr {
  std::jmp_buf toCaller;
  char message[JMSG_LENGTH_MAX];
};

void leaveDecoder(j_common_ptr common) {
  auto* errors = static_cast<JpegErrors*>(common->err);
  errors->format_message(common, errors->message);
  std::longjmp(errors->toCaller, 1);
}

/// Lost pixels are an error. Other warnings are not: slightly invalid files are common.
void judgeWarning(j_common_ptr common, int level) {
  const int code = common->err->msg_code;
  if (level < 0 &&
      (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE)) {
    leaveDecoder(common);
  }
}

/// Of Adobe's inverted CMYK.
void cmykToRgb(const std::uint8_t* cmyk, std::int64_t width, std::uint8_t* rgb) {
  for (std::int64_t x = 0; x < width; ++x, cmyk += 4, rgb += 3) {
    for (int channel = 0; channel < 3; ++channel) {
      rgb[channel] = static_cast<std::uint8_t>((cmyk[channel] * cmyk[3] + 127) / 255);
    }
  }
}

class JpegDecoder final : public ImageDecoder {
 public:
  explicit JpegDecoder(const std::string& bytes) : JpegDecoder() {
    call([&] {
      jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
      jpeg_read_header(&info_, TRUE);
    });
  }
  ~JpegDecoder() override { jpeg_destroy_decompress(&info_); }

  Size size() const override {
    return {static_cast<std::int64_t>(info_.image_width),
            static_cast<std::int64_t>(info_.image_height)};
  }

  DecodedPart decode(const Rect& crop, Size least) override {
    const std::int64_t reduction = reductionFor(crop, least);
    const auto scaled = [&](std::int64_t place) {
      return static_cast<double>(place) / static_cast<double>(reduction);
    };
    const Box box{scaled(crop.x), scaled(crop.y), scaled(crop.x + crop.width),
                  scaled(crop.y + crop.height)};
    start(static_cast<unsigned>(reduction));
    const auto top = static_cast<std::int64_t>(box.top);
    const auto bottom = std::min(static_cast<std::int64_t>(std::ceil(box.bottom)),
                                 std::int64_t{info_.output_height});
    const auto left = static_cast<std::int64_t>(box.left);
    const auto right =
        std::min(static_cast<std::int64_t>(std::ceil(box.right)), std::int64_t{info_.output_width});
    const std::int64_t decodedLeft = cropColumns(left, right);
    const std::int64_t width = info_.output_width;
    DecodedPart part;
    part.pixels.reset(new std::uint8_t[static_cast<std::size_t>(3 * width * (bottom - top))]);
    readRows(top, bottom, part.pixels.get());
    part.view = PixelView{part.pixels.get(), {width, bottom - top}, 3, 3 * width}.part(
        {left - decodedLeft, 0, right - left, bottom - top});
    const auto x = static_cast<double>(left);
    const auto y = static_cast<double>(top);
    part.box = {box.left - x, box.top - y, std::min(box.right, static_cast<double>(right)) - x,
                std::min(box.bottom, static_cast<double>(bottom)) - y};
    return part;
  }

 private:
  /// After it the destructor runs, also if the other constructor throws.
  JpegDecoder() {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = leaveDecoder;
    errors_.emit_message = judgeWarning;
    call([&] { jpeg_create_decompress(&info_); });
  }

  /// Calls libjpeg. `action` must not own anything that a jump would leave behind.
  template <typename Action>
  void call(const Action& action) {
    if (!succeeds(action)) {
      throw std::runtime_error(errors_.message);
    }
  }
  template <typename Action>
  bool succeeds(const Action& action) {
    if (setjmp(errors_.toCaller) != 0) {
      return false;
    }
    action();
    return true;
  }

  static std::int64_t reductionFor(const Rect& crop, Size least) {
    std::int64_t reduction = 1;
    while (reduction < kMostReduced && crop.width >= 2 * reduction * least.width &&
           crop.height >= 2 * reduction * least.height) {
      reduction *= 2;
    }
    return reduction;
  }

  void start(unsigned reduction) {
    isCmyk_ = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
    info_.out_color_space = isCmyk_ ? JCS_CMYK : JCS_RGB;
    info_.scale_num = 1;
    info_.scale_denom = reduction;
    call([&] { jpeg_start_decompress(&info_); });
  }

  /// Returns the first column that is decoded.
  std::int64_t cropColumns(std::int64_t left, std::int64_t right) {
    JDIMENSION first = static_cast<JDIMENSION>(std::max<std::int64_t>(0, left - kMargin));
    const auto end = std::min(static_cast<JDIMENSION>(right + kMargin), info_.output_width);
    JDIMENSION width = end - first;
    if (width < info_.output_width) {
      call([&] { jpeg_crop_scanline(&info_, &first, &width); });
    }
    return first;
  }

  void readRows(std::int64_t top, std::int64_t bottom, std::uint8_t* pixels) {
    const std::int64_t width = info_.output_width;
    const std::unique_ptr<std::uint8_t[]> cmyk(
        isCmyk_ ? new std::uint8_t[static_cast<std::size_t>(4 * width)] : nullptr);
    call([&] {
      jpeg_skip_scanlines(&info_, static_cast<JDIMENSION>(top));
      for (std::int64_t y = top; y < bottom; ++y, pixels += 3 * width) {
        JSAMPROW row = isCmyk_ ? cmyk.get() : pixels;
        jpeg_read_scanlines(&info_, &row, 1);
        if (isCmyk_) {
          cmykToRgb(row, width, pixels);
        }
      }
    });
  }

  JpegErrors errors_{};
  jpeg_decompress_struct info_{};
  bool isCmyk_ = false;
};

}  // namespace

std::unique_ptr<ImageDecoder> openJpeg(const std::string& bytes) {
  return std::make_unique<JpegDecoder>(bytes);
}

}  // namespace steptape::detail::train
