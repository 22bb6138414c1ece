// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "steptape/log/summary_writer.h"

#include "base/got_expected.h"
#include "log/writer/call_site.h"
#include "log/writer/capture.h"
#include "log/writer/captured_pixels.h"
#include "log/writer/value_names.h"
#include "log/writer/writer_core.h"
#include "values/kinds/image/boxes.h"
#include "values/kinds/image/image.h"

namespace steptape {
namespace {

/// The data from which the backend draws an image.
struct PixelsAndBoxes {
  Pixels pixels;
  std::vector<BoxCorners> boxes;
};

event::Value encodedValue(const std::string& name, const Pixels& pixels,
                          const event::SummaryMetadata& names, ValueForm form) {
  return imageValue(name, pixels.width, pixels.height, encodePng(pixels), names, form);
}

event::Value encodedValue(const std::string& name, const std::vector<Pixels>& images,
                          const event::SummaryMetadata& names, ValueForm form) {
  int width = 0;
  int height = 0;
  std::vector<std::string> pngs;
  for (const Pixels& pixels : images) {
    width = std::max(width, pixels.width);
    height = std::max(height, pixels.height);
    pngs.push_back(encodePng(pixels));
  }
  return imageValue(name, width, height, std::move(pngs), names, form);
}

/// Calls checkImage() for each image; an error contains its index.
void checkImages(const std::vector<TensorView>& images, const std::string& dataFormat) {
  if (images.empty()) {
    detail::reject("no images", "at least one");
  }
  for (std::size_t i = 0; i < images.size(); ++i) {
    detail::CallSite("image " + std::to_string(i)).run([&] { checkImage(images[i], dataFormat); });
  }
}

}  // namespace

void SummaryWriter::addImage(std::string_view tag, const TensorView& pixels, std::int64_t step,
                             const ImageOptions& options) {
  const std::string name = core_->validTag(tag);
  if (!core_->isActive()) {
    return;
  }
  const detail::CallSite site("addImage", name);
  site.run([&] { checkImage(pixels, options.dataFormat); });
  const auto captured = detail::capturePixels(
      pixels, site, name, &core_->context().reporter(),
      [format = options.dataFormat](const TensorView& view) { return imagePixels(view, format); });
  core_->addValue(step, options.wallTime, detail::capturedBytes(pixels),
                  [name, captured, names = detail::namesOf(options)](ValueForm form) {
                    return encodedValue(name, *captured(), names, form);
                  });
}

void SummaryWriter::addImages(std::string_view tag, const TensorView& pixels, std::int64_t step,
                              const ImagesOptions& options) {
  const std::string name = core_->validTag(tag);
  if (!core_->isActive()) {
    return;
  }
  const detail::CallSite site("addImages", name);
  site.run([&] { checkImageGrid(pixels, options.dataFormat); });
  const auto captured = detail::capturePixels(
      pixels, site, name, &core_->context().reporter(),
      [format = options.dataFormat](const TensorView& view) { return imageGrid(view, format); });
  core_->addValue(step, options.wallTime, detail::capturedBytes(pixels),
                  [name, captured, names = detail::namesOf(options)](ValueForm form) {
                    return encodedValue(name, *captured(), names, form);
                  });
}

void SummaryWriter::addImages(std::string_view tag, const std::vector<TensorView>& images,
                              std::int64_t step, const ImageOptions& options) {
  const std::string name = core_->validTag(tag);
  if (!core_->isActive()) {
    return;
  }
  const detail::CallSite site("addImages", name);
  site.run([&] { checkImages(images, options.dataFormat); });
  const auto captured =
      detail::capture(images, site,
                      [reporter = &core_->context().reporter(), name,
                       format = options.dataFormat](const auto& views) {
                        std::vector<Pixels> all;
                        UnshownElements unshown;
                        for (const TensorView& view : views) {
                          all.push_back(imagePixels(view, format));
                          unshown.add(all.back().unshown);
                        }
                        detail::reportUnshown(detail::imageText(name), unshown, reporter);
                        return all;
                      });
  std::size_t bytes = 0;
  for (const TensorView& image : images) {
    bytes += detail::capturedBytes(image);
  }
  core_->addValue(step, options.wallTime, bytes,
                  [name, captured, names = detail::namesOf(options)](ValueForm form) {
                    return encodedValue(name, *captured(), names, form);
                  });
}

void SummaryWriter::addImageWithBoxes(std::string_view tag, const TensorView& pixels,
                                      const TensorView& boxes, std::int64_t step,
                                      const BoxOptions& options) {
  const std::string name = core_->validTag(tag);
  if (!core_->isActive()) {
    return;
  }
  const detail::CallSite site("addImageWithBoxes", name);
  site.run([&] { checkBoxes(pixels, boxes, options); });
  const auto captured = detail::capture(
      {pixels, boxes}, site,
      [reporter = &core_->context().reporter(), name,
       format = options.dataFormat](const auto& views) {
        PixelsAndBoxes taken{imagePixels(views[0], format), boxCorners(views[1])};
        detail::reportUnshown(detail::imageText(name), taken.pixels.unshown, reporter);
        return taken;
      });
  core_->addValue(step, options.wallTime, detail::capturedBytes(pixels),
                  [name, captured, options](ValueForm form) {
                    const auto taken = captured();
                    return encodedValue(name, drawBoxes(taken->pixels, taken->boxes, options),
                                        detail::namesOf(options), form);
                  });
}

}  // namespace steptape
