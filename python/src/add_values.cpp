// SPDX-License-Identifier: Apache-2.0
// Python bindings of the calls that record values. steptape/_writer.py makes methods of them that
// take what Python programs have: lists, tensors on a device, figures.
#include <cstddef>
#include <cstdint>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/log/summary_writer.h"

#include "bindings.h"
#include "events/messages/event_codec.h"
#include "tensors.h"
#include "writer.h"
#include "writer_calls.h"

namespace steptape::python {
namespace {

template <typename Options>
Options withTime(WallTime wallTime) {
  Options options;
  options.wallTime = wallTime;
  return options;
}

std::optional<TensorView> viewOf(const std::optional<Tensor>& tensor) {
  return tensor ? std::optional(tensor->view()) : std::nullopt;
}

std::optional<Tensor> optionalTensor(const char* what, nb::handle array) {
  return array.is_none() ? std::nullopt : std::make_optional<Tensor>(what, array);
}

/// Records a scalar in the form of TensorFlow 2, in 32 or 64 bits.
void addTensorScalar(Self self, std::string_view tag, double value, std::int64_t step,
                     WallTime wallTime, bool isDouble) {
  event::Tensor tensor;
  const auto narrow = static_cast<float>(value);
  tensor.type = isDouble ? event::TensorType::kDouble : event::TensorType::kFloat;
  tensor.content = isDouble ? std::string(reinterpret_cast<const char*>(&value), sizeof value)
                            : std::string(reinterpret_cast<const char*>(&narrow), sizeof narrow);
  event::SummaryMetadata metadata;
  metadata.pluginName = event::kScalarsPlugin;
  metadata.dataClass = event::DataClass::kScalar;
  event::Summary summary;
  summary.values.push_back({std::string(tag), std::move(tensor), std::move(metadata)});
  call(self, [&](SummaryWriter& writer) {
    writer.addSummary(std::move(summary), step, withTime<ValueOptions>(wallTime));
  });
}

void addNamedScalar(Self self, std::string_view tag, double value, std::int64_t step,
                    WallTime wallTime, const std::string& name, const std::string& description) {
  ScalarOptions options;
  options.wallTime = wallTime;
  options.displayName = name;
  options.description = description;
  call(self, [&](SummaryWriter& writer) { writer.addScalar(tag, value, step, options); });
}

void addScalars(Self self, std::string_view mainTag,
                const std::vector<std::pair<std::string, double>>& values, std::int64_t step,
                WallTime wallTime) {
  call(self, [&](SummaryWriter& writer) {
    writer.addScalars(mainTag, values, step, withTime<ScalarOptions>(wallTime));
  });
}

void addHistogram(Self self, std::string_view tag, nb::handle values, std::int64_t step,
                  const std::variant<int, std::string, std::vector<double>>& bins,
                  WallTime wallTime, std::int64_t maxBins) {
  const Tensor tensor("add_histogram: values", values);
  auto options = withTime<HistogramOptions>(wallTime);
  options.maxBins = maxBins;
  std::visit([&](const auto& choice) { options.bins = HistogramBins(choice); }, bins);
  call(self,
       [&](SummaryWriter& writer) { writer.addHistogram(tag, tensor.view(), step, options); });
}

void addHistogramRaw(Self self, std::string_view tag, double min, double max, double num,
                     double sum, double sumSquares, std::vector<double> limits,
                     std::vector<double> counts, std::int64_t step, WallTime wallTime) {
  const HistogramRaw histogram{
      min, max, num, sum, sumSquares, std::move(limits), std::move(counts)};
  call(self, [&](SummaryWriter& writer) {
    writer.addHistogramRaw(tag, histogram, step, withTime<HistogramOptions>(wallTime));
  });
}

void addImage(Self self, std::string_view tag, nb::handle pixels, std::int64_t step,
              WallTime wallTime, const std::string& dataFormat) {
  const Tensor tensor("add_image: img_tensor", pixels);
  auto options = withTime<ImageOptions>(wallTime);
  options.dataFormat = dataFormat;
  call(self, [&](SummaryWriter& writer) { writer.addImage(tag, tensor.view(), step, options); });
}

void addImages(Self self, std::string_view tag, nb::handle pixels, std::int64_t step,
               WallTime wallTime, const std::string& dataFormat) {
  const Tensor tensor("add_images: img_tensor", pixels);
  auto options = withTime<ImagesOptions>(wallTime);
  options.dataFormat = dataFormat;
  call(self, [&](SummaryWriter& writer) { writer.addImages(tag, tensor.view(), step, options); });
}

/// Records images of different sizes.
void addImageList(Self self, std::string_view tag, const nb::list& images, std::int64_t step,
                  WallTime wallTime, const std::string& dataFormat) {
  std::vector<Tensor> tensors;
  for (const nb::handle image : images) {
    tensors.emplace_back("add_images: img_tensor", image);
  }
  std::vector<TensorView> views;
  for (const Tensor& tensor : tensors) {
    views.push_back(tensor.view());
  }
  auto options = withTime<ImageOptions>(wallTime);
  options.dataFormat = dataFormat;
  call(self, [&](SummaryWriter& writer) { writer.addImages(tag, views, step, options); });
}

void addImageWithBoxes(Self self, std::string_view tag, nb::handle pixels, nb::handle boxes,
                       std::int64_t step, WallTime wallTime, double rescale,
                       const std::string& dataFormat, std::vector<std::string> labels) {
  const Tensor image("add_image_with_boxes: img_tensor", pixels);
  const Tensor corners("add_image_with_boxes: box_tensor", boxes);
  auto options = withTime<BoxOptions>(wallTime);
  options.rescale = rescale;
  options.dataFormat = dataFormat;
  options.labels = std::move(labels);
  call(self, [&](SummaryWriter& writer) {
    writer.addImageWithBoxes(tag, image.view(), corners.view(), step, options);
  });
}

void addVideo(Self self, std::string_view tag, nb::handle frames, std::int64_t step, double fps,
              WallTime wallTime, const std::string& dataFormat) {
  const Tensor tensor("add_video: vid_tensor", frames);
  auto options = withTime<VideoOptions>(wallTime);
  options.fps = fps;
  options.dataFormat = dataFormat;
  call(self, [&](SummaryWriter& writer) { writer.addVideo(tag, tensor.view(), step, options); });
}

void addAudio(Self self, std::string_view tag, nb::handle samples, std::int64_t step,
              std::int64_t sampleRate, WallTime wallTime, const std::string& dataFormat) {
  const Tensor tensor("add_audio: snd_tensor", samples);
  auto options = withTime<AudioOptions>(wallTime);
  options.sampleRate = sampleRate;
  options.dataFormat = dataFormat;
  call(self, [&](SummaryWriter& writer) { writer.addAudio(tag, tensor.view(), step, options); });
}

void addText(Self self, std::string_view tag,
             const std::variant<std::string_view, std::vector<std::string>,
                                std::vector<std::vector<std::string>>>& text,
             std::int64_t step, WallTime wallTime) {
  const auto options = withTime<TextOptions>(wallTime);
  call(self, [&](SummaryWriter& writer) {
    if (const auto* const markdown = std::get_if<std::string_view>(&text)) {
      writer.addText(tag, *markdown, step, options);
    } else if (const auto* const column = std::get_if<std::vector<std::string>>(&text)) {
      writer.addTextTable(tag, *column, step, options);
    } else {
      writer.addTextTable(tag, std::get<2>(text), step, options);
    }
  });
}

void addTensor(Self self, std::string_view tag, nb::handle array, std::int64_t step,
               WallTime wallTime) {
  const Tensor tensor("add_tensor: tensor", array);
  call(self, [&](SummaryWriter& writer) {
    writer.addTensor(tag, tensor.view(), step, withTime<ValueOptions>(wallTime));
  });
}

void addPrCurve(Self self, std::string_view tag, nb::handle labels, nb::handle predictions,
                std::int64_t step, std::int64_t thresholds, nb::handle weights, WallTime wallTime) {
  const Tensor truth("add_pr_curve: labels", labels);
  const Tensor probabilities("add_pr_curve: predictions", predictions);
  const std::optional<Tensor> given = optionalTensor("add_pr_curve: weights", weights);
  auto options = withTime<PrCurveOptions>(wallTime);
  options.numThresholds = thresholds;
  options.weights = viewOf(given);
  call(self, [&](SummaryWriter& writer) {
    writer.addPrCurve(tag, truth.view(), probabilities.view(), step, options);
  });
}

void addPrCurveRaw(Self self, std::string_view tag, const std::vector<std::vector<double>>& counts,
                   std::int64_t step, WallTime wallTime) {
  const PrCurveCounts curve{counts.at(0), counts.at(1), counts.at(2),
                            counts.at(3), counts.at(4), counts.at(5)};
  call(self, [&](SummaryWriter& writer) {
    writer.addPrCurveRaw(tag, curve, step, withTime<PrCurveOptions>(wallTime));
  });
}

void addMesh(Self self, std::string_view tag, nb::handle vertices, nb::handle colors,
             nb::handle faces, std::string configJson, std::int64_t step, WallTime wallTime) {
  const Tensor points("add_mesh: vertices", vertices);
  const std::optional<Tensor> painted = optionalTensor("add_mesh: colors", colors);
  const std::optional<Tensor> triangles = optionalTensor("add_mesh: faces", faces);
  auto options = withTime<MeshOptions>(wallTime);
  options.colors = viewOf(painted);
  options.faces = viewOf(triangles);
  options.configJson = std::move(configJson);
  call(self, [&](SummaryWriter& writer) { writer.addMesh(tag, points.view(), step, options); });
}

void addEmbedding(Self self, nb::handle matrix, std::vector<std::vector<std::string>> metadata,
                  std::vector<std::string> header, nb::handle images, std::int64_t step,
                  std::string_view tag) {
  const Tensor points("add_embedding: mat", matrix);
  const std::optional<Tensor> sprites = optionalTensor("add_embedding: label_img", images);
  EmbeddingOptions options;
  options.metadata = std::move(metadata);
  options.metadataHeader = std::move(header);
  options.labelImages = viewOf(sprites);
  call(self,
       [&](SummaryWriter& writer) { writer.addEmbedding(tag, points.view(), step, options); });
}

/// A category of charts: title, then (title, is it a margin chart, tags).
using Charts = std::vector<
    std::pair<std::string, std::vector<std::tuple<std::string, bool, std::vector<std::string>>>>>;

void addCustomScalars(Self self, const Charts& categories) {
  CustomScalarsLayout layout;
  for (const auto& [title, charts] : categories) {
    CustomScalarsCategory category{title, {}};
    for (const auto& [name, isMargin, tags] : charts) {
      category.charts.push_back(
          isMargin ? CustomScalarsChart::margin(name, {tags.at(0), tags.at(1), tags.at(2)})
                   : CustomScalarsChart::multiline(name, tags));
    }
    layout.categories.push_back(std::move(category));
  }
  call(self, [&](SummaryWriter& writer) { writer.addCustomScalars(layout); });
}

using Hparam = std::variant<bool, double, std::string>;

HparamValue hparamOf(const Hparam& value) {
  return std::visit([](const auto& known) { return HparamValue(known); }, value);
}

void addHparams(Self self, const std::vector<std::pair<std::string, Hparam>>& hparams,
                const HparamMetrics& metrics,
                const std::vector<std::pair<std::string, std::vector<Hparam>>>& domains) {
  Hparams values;
  for (const auto& [name, value] : hparams) {
    values.emplace_back(name, hparamOf(value));
  }
  HparamsOptions options;
  if (!domains.empty()) {
    HparamsExperiment experiment;
    for (const auto& [name, value] : values) {
      HparamInfo info{name};
      for (const auto& [domain, members] : domains) {
        for (std::size_t i = 0; domain == name && i < members.size(); ++i) {
          info.discrete.push_back(hparamOf(members[i]));
        }
      }
      experiment.hparams.push_back(std::move(info));
    }
    for (const auto& [tag, value] : metrics) {
      experiment.metrics.push_back({tag});
    }
    options.experiment = std::move(experiment);
  }
  call(self, [&](SummaryWriter& writer) { writer.addHparams(values, metrics, options); });
}

/// @throws Error(kInvalidArgument) if the bytes are no event.
event::Event eventOf(std::string_view bytes, const char* function) {
  event::Event event;
  const Status status = ::steptape::detail::events::decodeEvent(bytes, &event);
  if (!status.ok()) {
    throw Error(ErrorCode::kInvalidArgument, std::string(function) + ": " + status.message());
  }
  return event;
}

/// Records a serialized message tensorflow.Summary.
void addSummary(Self self, std::string_view bytes, std::int64_t step, WallTime wallTime) {
  // As the summary of an event, field 5.
  std::string record = "\x2a";
  std::size_t length = bytes.size();
  for (; length >= 0x80; length >>= 7) {
    record += static_cast<char>(0x80 | (length & 0x7f));
  }
  record += static_cast<char>(length);
  record += bytes;
  event::Event event = eventOf(record, "add_summary");
  auto* const summary = std::get_if<event::Summary>(&event.what);
  if (summary != nullptr) {
    call(self, [&](SummaryWriter& writer) {
      writer.addSummary(std::move(*summary), step, withTime<ValueOptions>(wallTime));
    });
  }
}

}  // namespace

void bindAddedValues(nb::class_<Writer>* writer) {
  writer->def("_add_tensor_scalar", &addTensorScalar)
      .def("_add_named_scalar", &addNamedScalar)
      .def("_add_scalars", &addScalars)
      .def("_add_histogram", &addHistogram)
      .def("_add_histogram_raw", &addHistogramRaw)
      .def("_add_image", &addImage)
      .def("_add_images", &addImages)
      .def("_add_image_list", &addImageList)
      .def("_add_image_with_boxes", &addImageWithBoxes)
      .def("_add_video", &addVideo)
      .def("_add_audio", &addAudio)
      .def("_add_text", &addText)
      .def("_add_tensor", &addTensor)
      .def("_add_pr_curve", &addPrCurve, "tag"_a, "labels"_a, "predictions"_a, "step"_a,
           "thresholds"_a, "weights"_a.none(), "walltime"_a.none())
      .def("_add_pr_curve_raw", &addPrCurveRaw)
      .def("_add_mesh", &addMesh, "tag"_a, "vertices"_a, "colors"_a.none(), "faces"_a.none(),
           "config"_a, "step"_a, "walltime"_a.none())
      .def("_add_embedding", &addEmbedding, "matrix"_a, "metadata"_a, "header"_a, "images"_a.none(),
           "step"_a, "tag"_a)
      .def("_add_custom_scalars", &addCustomScalars)
      .def("_add_hparams", &addHparams)
      .def("_add_onnx_graph",
           [](Self self, const nb::bytes& path) {
             const std::string file(path.c_str(), path.size());
             call(self, [&](SummaryWriter& run) { run.addOnnxGraph(file); });
           })
      .def("_add_summary",
           [](Self self, const nb::bytes& bytes, std::int64_t step, WallTime wallTime) {
             addSummary(self, std::string_view(bytes.c_str(), bytes.size()), step, wallTime);
           })
      .def("_add_event", [](Self self, const nb::bytes& bytes) {
        event::Event event = eventOf({bytes.c_str(), bytes.size()}, "add_event");
        call(self, [&](SummaryWriter& run) { run.addEvent(std::move(event)); });
      });
}

}  // namespace steptape::python
