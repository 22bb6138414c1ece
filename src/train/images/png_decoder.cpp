// SPDX-License-Identifier: Apache-2.0
#include <csetjmp>
#include <cstring>
#include <new>
#include <png.h>
#include <stdexcept>

#include "train/images/image_decoder.h"

namespace steptape::detail::train {
namespace {

class PngDecoder final : public ImageDecoder {
 public:
  explicit PngDecoder(const std::string& bytes) : PngDecoder() {
    rest_ = bytes.data();
    left_ = bytes.size();
    call([&] { png_read_info(png_, info_); });
  }
  ~PngDecoder() override { png_destroy_read_struct(&png_, &info_, nullptr); }

  Size size() const override {
    return {std::int64_t{png_get_image_width(png_, info_)},
            std::int64_t{png_get_image_height(png_, info_)}};
  }

  DecodedPart decode(const Rect& crop, Size /*least*/) override {
    const Size whole = size();
    int passes = 1;
    call([&] {
      png_set_expand(png_);
      png_set_strip_16(png_);
      png_set_strip_alpha(png_);
      png_set_gray_to_rgb(png_);
      passes = png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
      if (png_get_rowbytes(png_, info_) != static_cast<std::size_t>(3 * whole.width)) {
        png_error(png_, "its colors cannot become 8-bit RGB");
      }
    });
    // A pass of an interlaced image adds to the rows of the passes before.
    const std::int64_t top = passes > 1 ? 0 : crop.y;
    const std::int64_t bottom = passes > 1 ? whole.height : crop.y + crop.height;
    const std::int64_t rowBytes = 3 * whole.width;
    DecodedPart part;
    part.pixels.reset(new std::uint8_t[static_cast<std::size_t>(rowBytes * (bottom - top))]);
    call([&] {
      for (int pass = 0; pass < passes; ++pass) {
        for (std::int64_t y = 0; y < bottom; ++y) {
          // The rows above the crop are overwritten by its first.
          const std::int64_t row = y < top ? 0 : y - top;
          png_read_row(png_, part.pixels.get() + row * rowBytes, nullptr);
        }
      }
    });
    part.view = PixelView{part.pixels.get(), {whole.width, bottom - top}, 3, rowBytes}.part(
        {crop.x, crop.y - top, crop.width, crop.height});
    part.box = boxOf(part.view.size);
    return part;
  }

 private:
  /// After it the destructor runs, also if the other constructor throws.
  PngDecoder() {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, leaveDecoder,
                                  [](png_structp, png_const_charp) {});
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
    png_set_read_fn(png_, this, readBytes);
  }

  static void leaveDecoder(png_structp png, png_const_charp message) {
    auto* decoder = static_cast<PngDecoder*>(png_get_error_ptr(png));
    std::strncpy(decoder->message_, message, sizeof decoder->message_ - 1);
    std::longjmp(decoder->toCaller_, 1);
  }

  static void readBytes(png_structp png, png_bytep to, std::size_t count) {
    auto* decoder = static_cast<PngDecoder*>(png_get_io_ptr(png));
    if (count > decoder->left_) {
      png_error(png, "the file ends early");
    }
    std::memcpy(to, decoder->rest_, count);
    decoder->rest_ += count;
    decoder->left_ -= count;
  }

  /// Calls libpng. `action` must not own anything that a jump would leave behind.
  template <typename Action>
  void call(const Action& action) {
    if (!succeeds(action)) {
      const std::string message = message_;
      throw std::runtime_error(message);
    }
  }
  template <typename Action>
  bool succeeds(const Action& action) {
    if (setjmp(toCaller_) != 0) {
      return false;
    }
    action();
    return true;
  }

  const char* rest_ = nullptr;
  std::size_t left_ = 0;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf toCaller_;
  char message_[200] = "";
};

}  // namespace

std::unique_ptr<ImageDecoder> openPng(const std::string& bytes) {
  return std::make_unique<PngDecoder>(bytes);
}

}  // namespace steptape::detail::train
