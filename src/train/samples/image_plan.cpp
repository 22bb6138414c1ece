// SPDX-License-Identifier: Apache-2.0
#include "train/samples/image_plan.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/got_expected.h"

namespace steptape::detail::train {
namespace {

constexpr int kTries = 10;  // of RandomResizedCrop, as torchvision has it

/// Rounds halves to even, as Python does.
std::int64_t rounded(double value) {
  return static_cast<std::int64_t>(std::nearbyint(value));
}

void checkSize(const char* transform, std::int64_t size) {
  if (size < 1) {
    base::reject("size " + std::to_string(size), "at least 1", transform);
  }
}

std::string sizeText(Size size) {
  return std::to_string(size.width) + " x " + std::to_string(size.height);
}

Rect wholeOf(Size size) {
  return {0, 0, size.width, size.height};
}

bool contains(Rect outer, Rect inner) {
  return inner.x >= outer.x && inner.y >= outer.y &&
         inner.x + inner.width <= outer.x + outer.width &&
         inner.y + inner.height <= outer.y + outer.height;
}

/// Adds transforms to a plan, to its last step if one pass can do both.
class Planner {
 public:
  Planner(Size image, SampleRandom& random) : random_(random) { addStep(image); }

  const ImagePlan& plan() const { return plan_; }

  void operator()(const RandomResizedCrop& transform) {
    checkSize("RandomResizedCrop", transform.size);
    crop(randomPart(transform));
    resize({transform.size, transform.size});
  }

  void operator()(const Resize& transform) {
    checkSize("Resize", transform.size);
    const Size now = size();
    const std::int64_t shorter = std::min(now.width, now.height);
    resize({now.width * transform.size / shorter, now.height * transform.size / shorter});
  }

  void operator()(const CenterCrop& transform) {
    checkSize("CenterCrop", transform.size);
    const auto start = [&](std::int64_t side) {
      return side < transform.size ? -((transform.size - side) / 2)
                                   : rounded(static_cast<double>(side - transform.size) / 2);
    };
    crop({start(size().width), start(size().height), transform.size, transform.size});
  }

  void operator()(const RandomCrop& transform) {
    checkSize("RandomCrop", transform.size);
    const Size now = size();
    const std::int64_t right = now.width + 2 * transform.padding - transform.size;
    const std::int64_t bottom = now.height + 2 * transform.padding - transform.size;
    if (right < 0 || bottom < 0 || transform.padding < 0) {
      base::reject(
          "an image of " + sizeText(now) + " with padding " + std::to_string(transform.padding),
          "at least " + sizeText({transform.size, transform.size}) + " in all", "RandomCrop");
    }
    const std::int64_t y = random_.below(bottom + 1) - transform.padding;
    const std::int64_t x = random_.below(right + 1) - transform.padding;
    crop({x, y, transform.size, transform.size});
  }

  void operator()(const RandomHorizontalFlip& transform) {
    if (random_.uniform() < transform.probability) {
      last().flip = !last().flip;
    }
  }

 private:
  ImageStep& last() { return plan_.back(); }
  Size size() { return {last().window.width, last().window.height}; }

  void addStep(Size image) { plan_.push_back({wholeOf(image), image, wholeOf(image), false}); }

  void crop(Rect rect) {
    const Rect whole = wholeOf(last().resized);
    if (!contains(wholeOf(size()), rect) && !contains(last().window, whole)) {
      addStep(size());  // What an earlier crop has cut off must not come back.
    }
    ImageStep& step = last();
    if (step.flip) {
      rect.x = step.window.width - rect.x - rect.width;
    }
    step.window = {step.window.x + rect.x, step.window.y + rect.y, rect.width, rect.height};
  }

  void resize(Size resized) {
    const bool isResized =
        last().resized.width != last().crop.width || last().resized.height != last().crop.height;
    if (isResized || !contains(wholeOf(last().resized), last().window)) {
      addStep(size());
    }
    ImageStep& step = last();
    step.crop = {step.crop.x + step.window.x, step.crop.y + step.window.y, step.window.width,
                 step.window.height};
    step.resized = resized;
    step.window = wholeOf(resized);
  }

  Rect randomPart(const RandomResizedCrop& transform) {
    const Size now = size();
    const double area = static_cast<double>(now.width) * static_cast<double>(now.height);
    for (int i = 0; i < kTries; ++i) {
      const double target = area * random_.uniform(transform.minScale, transform.maxScale);
      const double ratio =
          std::exp(random_.uniform(std::log(transform.minRatio), std::log(transform.maxRatio)));
      const std::int64_t width = rounded(std::sqrt(target * ratio));
      const std::int64_t height = rounded(std::sqrt(target / ratio));
      if (0 < width && width <= now.width && 0 < height && height <= now.height) {
        const std::int64_t y = random_.below(now.height - height + 1);
        return {random_.below(now.width - width + 1), y, width, height};
      }
    }
    return largestPart(transform);
  }

  /// The central part with the allowed ratio that is closest to the image's.
  Rect largestPart(const RandomResizedCrop& transform) {
    const Size now = size();
    const double ratio = static_cast<double>(now.width) / static_cast<double>(now.height);
    Size part = now;
    if (ratio < transform.minRatio) {
      part.height = rounded(static_cast<double>(now.width) / transform.minRatio);
    } else if (ratio > transform.maxRatio) {
      part.width = rounded(static_cast<double>(now.height) * transform.maxRatio);
    }
    part = {std::clamp<std::int64_t>(part.width, 1, now.width),
            std::clamp<std::int64_t>(part.height, 1, now.height)};
    return {(now.width - part.width) / 2, (now.height - part.height) / 2, part.width, part.height};
  }

  SampleRandom& random_;
  ImagePlan plan_;
};

}  // namespace

ImagePlan planImage(Size image, const ImageTransforms& transforms, SampleRandom& random) {
  Planner planner(image, random);
  for (const ImageTransform& transform : transforms) {
    std::visit(planner, transform);
  }
  return planner.plan();
}

Size plannedSize(const ImageTransforms& transforms) {
  std::int64_t side = 0;
  for (const ImageTransform& transform : transforms) {
    if (const auto* crop = std::get_if<RandomResizedCrop>(&transform)) {
      side = crop->size;
    } else if (const auto* center = std::get_if<CenterCrop>(&transform)) {
      side = center->size;
    } else if (const auto* random = std::get_if<RandomCrop>(&transform)) {
      side = random->size;
    } else if (const auto* resize = std::get_if<Resize>(&transform); resize && side > 0) {
      side = resize->size;
    }
  }
  return {side, side};
}

}  // namespace steptape::detail::train
