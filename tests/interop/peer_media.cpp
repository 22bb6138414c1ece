// SPDX-License-Identifier: Apache-2.0
#include "peer_media.h"

#include <string>
#include <utility>
#include <vector>

#include "peer_options.h"

void logImages(steptape::SummaryWriter& writer, const PeerNumbers& numbers) {
  const auto add = [&](const std::string& tag, const std::string& name,
                       const std::string& dataFormat = "CHW") {
    auto options = at<steptape::ImageOptions>(2);
    options.dataFormat = dataFormat;
    writer.addImage(tag, numbers[name], 2, options);
  };
  add("layout/CHW", "chw", "CHW");
  add("layout/HWC", "hwc", "HWC");
  add("layout/CWH", "cwh", "CWH");
  add("layout/HW", "hw", "HW");
  add("layout/WH", "wh", "WH");
  for (const std::string name : {"gray", "rgba", "levels", "too_bright", "all_levels"}) {
    add(name, name);
  }
}

void logImageBatches(steptape::SummaryWriter& writer, const PeerNumbers& numbers) {
  auto options = at<steptape::ImagesOptions>(0);
  writer.addImages("grid/NCHW", numbers["nchw"], 0, options);
  writer.addImages("grid/RGBA", numbers["nchw_rgba"], 0, options);
  options.dataFormat = "NHWC";
  writer.addImages("grid/NHWC", numbers["nhwc"], 0, options);
  writer.addImages("list", {numbers.at("nchw", 0), numbers.at("nchw", 1), numbers.at("nchw", 2)}, 0,
                   at<steptape::ImageOptions>(0));
}

void logBoxes(steptape::SummaryWriter& writer, const PeerNumbers& numbers) {
  const auto add = [&](const std::string& tag, double rescale, std::vector<std::string> labels) {
    auto options = at<steptape::BoxOptions>(0);
    options.rescale = rescale;
    options.labels = std::move(labels);
    writer.addImageWithBoxes(tag, numbers["scene"], numbers["boxes"], 0, options);
  };
  add("plain", 1, {});
  add("half", 0.5, {});
  add("twice", 2, {});
  add("labels", 1, {"cat", "dog", "cat"});
}

void logFigures(steptape::SummaryWriter& writer, const PeerNumbers& numbers) {
  const steptape::TensorView file = numbers["plot_png"];
  std::string bytes(static_cast<const char*>(file.data()), static_cast<std::size_t>(file.numel()));
  writer.addFigure("plot", steptape::pngImage(std::move(bytes)), 0, at<steptape::FigureOptions>(0));
}

void logVideos(steptape::SummaryWriter& writer, const PeerNumbers& numbers) {
  auto options = at<steptape::VideoOptions>(0);
  options.fps = 8;
  writer.addVideo("one", numbers["clip"], 0, options);
  writer.addVideo("three", numbers["clips"], 0, options);
}

void logSounds(steptape::SummaryWriter& writer, const PeerNumbers& numbers) {
  auto options = at<steptape::AudioOptions>(0);
  options.sampleRate = 8000;
  for (const std::string name : {"mono", "stereo", "loud"}) {
    writer.addAudio(name, numbers[name], 0, options);
  }
}
