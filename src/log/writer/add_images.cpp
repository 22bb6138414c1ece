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
#include "log/writer/run_client.h"
#include "log/writer/value_names.h"
#include "values/kinds/image/boxes.h"
#include "values/kinds/image/image.h"

namespace steptape {
namespace {

/// The data from which the backend draws an image.
struct PixelsAndBoxes {
  detail::values::Pixels pixels;
  std::vector<detail::values::BoxCorners> boxes;
};

event::Value encodedValue(const std::string& name, const detail::values::Pixels& pixels,
                          const event::SummaryMetadata& names, ValueForm form) {
  return detail::values::imageValue(name, pixels.width, pixels.height,
                                    detail::values::encodePng(pixels), names, form);
}

event::Value encodedValue(const std::string& name,
                          const std::vector<detail::values::Pixels>& images,
                          const event::SummaryMetadata& names, ValueForm form) {
  int width = 0;
  int height = 0;
  std::vector<std::string> pngs;
  for (const detail::values::Pixels& pixels : images) {
    width = std::max(width, pixels.width);
    height = std::max(height, pixels.height);
    pngs.push_back(detail::values::encodePng(pixels));
  }
  return detail::values::imageValue(name, width, height, std::move(pngs), names, form);
}

/// Calls checkImage() for each image; an error contains its index.
void checkImages(const std::vector<TensorView>& images, const std::string& dataFormat) {
  if (images.empty()) {
    detail::base::reject("no images", "at least one");
  }
  for (std::size_t i = 0; i < images.size(); ++i) {
    detail::log::CallSite("image " + std::to_string(i)).run([&] {
      detail::values::checkImage(images[i], dataFormat);
    });
  }
}

}  // namespace

void SummaryWriter::addImage(std::string_view tag, const TensorView& pixels, std::int64_t step,
                             const ImageOptions& options) {
  const std::string name = client_->validTag(tag);
  if (!client_->isActive()) {
    return;
  }
  const detail::log::CallSite site("addImage", name);
  site.run([&] { detail::values::checkImage(pixels, options.dataFormat); });
  const auto captured =
      detail::log::capturePixels(pixels, site, name, &client_->context().reporter(),
                                 [format = options.dataFormat](const TensorView& view) {
                                   return detail::values::imagePixels(view, format);
                                 });
  client_->addValue(step, options.wallTime, detail::log::capturedBytes(pixels),
                    [name, captured, names = detail::log::namesOf(options)](ValueForm form) {
                      return encodedValue(name, *captured(), names, form);
                    });
}

void SummaryWriter::addImages(std::string_view tag, const TensorView& pixels, std::int64_t step,
                              const ImagesOptions& options) {
  const std::string name = client_->validTag(tag);
  if (!client_->isActive()) {
    return;
  }
  const detail::log::CallSite site("addImages", name);
  site.run([&] { detail::values::checkImageGrid(pixels, options.dataFormat); });
  const auto captured =
      detail::log::capturePixels(pixels, site, name, &client_->context().reporter(),
                                 [format = options.dataFormat](const TensorView& view) {
                                   return detail::values::imageGrid(view, format);
                                 });
  client_->addValue(step, options.wallTime, detail::log::capturedBytes(pixels),
                    [name, captured, names = detail::log::namesOf(options)](ValueForm form) {
                      return encodedValue(name, *captured(), names, form);
                    });
}

void SummaryWriter::addImages(std::string_view tag, const std::vector<TensorView>& images,
                              std::int64_t step, const ImageOptions& options) {
  const std::string name = client_->validTag(tag);
  if (!client_->isActive()) {
    return;
  }
  const detail::log::CallSite site("addImages", name);
  site.run([&] { checkImages(images, options.dataFormat); });
  const auto captured = detail::log::capture(
      images, site,
      [reporter = &client_->context().reporter(), name,
       format = options.dataFormat](const auto& views) {
        std::vector<detail::values::Pixels> all;
        detail::values::UnshownElements unshown;
        for (const TensorView& view : views) {
          all.push_back(detail::values::imagePixels(view, format));
          unshown.add(all.back().unshown);
        }
        detail::log::reportUnshown(detail::log::imageText(name), unshown, reporter);
        return all;
      });
  std::size_t bytes = 0;
  for (const TensorView& image : images) {
    bytes += detail::log::capturedBytes(image);
  }
  client_->addValue(step, options.wallTime, bytes,
                    [name, captured, names = detail::log::namesOf(options)](ValueForm form) {
                      return encodedValue(name, *captured(), names, form);
                    });
}

void SummaryWriter::addImageWithBoxes(std::string_view tag, const TensorView& pixels,
                                      const TensorView& boxes, std::int64_t step,
                                      const BoxOptions& options) {
  const std::string name = client_->validTag(tag);
  if (!client_->isActive()) {
    return;
  }
  const detail::log::CallSite site("addImageWithBoxes", name);
  site.run([&] { detail::values::checkBoxes(pixels, boxes, options); });
  const auto captured = detail::log::capture(
      {pixels, boxes}, site,
      [reporter = &client_->context().reporter(), name,
       format = options.dataFormat](const auto& views) {
        PixelsAndBoxes taken{detail::values::imagePixels(views[0], format),
                             detail::values::boxCorners(views[1])};
        detail::log::reportUnshown(detail::log::imageText(name), taken.pixels.unshown, reporter);
        return taken;
      });
  client_->addValue(step, options.wallTime, detail::log::capturedBytes(pixels),
                    [name, captured, options](ValueForm form) {
                      const auto taken = captured();
                      return encodedValue(
                          name, detail::values::drawBoxes(taken->pixels, taken->boxes, options),
                          detail::log::namesOf(options), form);
                    });
}

}  // namespace steptape
