// SPDX-License-Identifier: Apache-2.0
// Values other than scalars, read from their files on access.
#include "steptape/log/values.h"

#include <algorithm>
#include <cstring>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/events/plugin_content.h"

#include "arrays.h"
#include "bindings.h"
#include "gil.h"
#include "log.h"

namespace steptape::python {
namespace {

event::Value valueAt(const Series& series, std::size_t index) {
  const auto& places = series.points->values;
  if (index >= places.size()) {
    throw nb::index_error(("value: got index " + std::to_string(index) + "; expected less than " +
                           std::to_string(places.size()))
                              .c_str());
  }
  return series.log->value(*series.run, places[index]);
}

nb::tuple bytesOf(const std::vector<std::string>& all) {
  nb::list list;
  for (const std::string& each : all) {
    list.append(toBytes(each));
  }
  return nb::tuple(list);
}

nb::tuple image(const Series& series, std::size_t index) {
  ImageValue images;
  decodeImages(valueAt(series, index), &images).throwIfError();
  return nb::make_tuple(images.width, images.height, bytesOf(images.encoded));
}

nb::tuple audio(const Series& series, std::size_t index) {
  AudioValue sounds;
  decodeAudio(valueAt(series, index), series.points->metadata, &sounds).throwIfError();
  return nb::make_tuple(bytesOf(sounds.encoded), sounds.contentType, sounds.sampleRate,
                        sounds.frames, sounds.channels);
}

/// Returns left edges, right edges and counts.
nb::tuple histogram(const Series& series, std::size_t index) {
  HistogramValue value;
  decodeHistogram(valueAt(series, index), &value).throwIfError();
  std::vector<double> left;
  std::vector<double> right;
  std::vector<double> counts;
  for (const HistogramBucket& bucket : value.buckets) {
    left.push_back(bucket.left);
    right.push_back(bucket.right);
    counts.push_back(bucket.count);
  }
  return nb::make_tuple(arrayOf(std::move(left)), arrayOf(std::move(right)),
                        arrayOf(std::move(counts)));
}

/// Returns the fields of a histogram in the compatible form; None in the other.
nb::object histogramFields(const Series& series, std::size_t index) {
  event::Value value = valueAt(series, index);
  auto* const histo = std::get_if<event::SummaryHistogram>(&value.data);
  if (histo == nullptr) {
    return nb::none();
  }
  return nb::make_tuple(histo->min, histo->max, histo->num, histo->sum, histo->sumSquares,
                        arrayOf(std::move(histo->bucketLimits)),
                        arrayOf(std::move(histo->bucketCounts)));
}

/// Returns type (a number of types.proto), shape, content and strings.
nb::tuple tensor(const Series& series, std::size_t index) {
  event::Tensor value;
  decodeTensor(valueAt(series, index), &value).throwIfError();
  return nb::make_tuple(static_cast<int>(value.type), value.shape, toBytes(value.content),
                        bytesOf(value.strings));
}

/// Returns shape and texts.
nb::tuple text(const Series& series, std::size_t index) {
  TextValue value;
  decodeText(valueAt(series, index), &value).throwIfError();
  return nb::make_tuple(value.shape, bytesOf(value.strings));
}

nb::object toObject(const HparamValue& hparam) {
  return std::visit(
      [](const auto& value) -> nb::object {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
          return toStr(value);
        } else {
          return nb::cast(value);
        }
      },
      hparam.value());
}

/// Returns the hyperparameters in a session start; None for other records of the plugin.
nb::object sessionHparams(const Series& series) {
  HparamsContent content;
  decodeHparamsContent(series.points->metadata.pluginContent, &content).throwIfError();
  const auto* const start = std::get_if<HparamsSessionStart>(&content);
  if (start == nullptr) {
    return nb::none();
  }
  nb::dict hparams;
  for (const auto& [name, value] : start->hparams) {
    hparams[toStr(name)] = toObject(value);
  }
  return nb::object(std::move(hparams));
}

}  // namespace

void bindValues(nb::module_& module) {
  module.def("image", &image, "series"_a, "index"_a, "Width, height and encoded files.");
  module.def("audio", &audio, "series"_a, "index"_a,
             "Encoded files, media type, sample rate, frames and channels.");
  module.def("histogram", &histogram, "series"_a, "index"_a, "Left edges, right edges, counts.");
  module.def("histogram_fields", &histogramFields, "series"_a, "index"_a,
             "min, max, num, sum, sum_squares, bucket_limit and bucket; None if it is a tensor.");
  module.def("tensor", &tensor, "series"_a, "index"_a, "Type, shape, content and strings.");
  module.def("text", &text, "series"_a, "index"_a, "Shape and texts.");
  module.def("session_hparams", &sessionHparams, "series"_a,
             "Hyperparameters by name; None for other records of the plugin.");
}

}  // namespace steptape::python
