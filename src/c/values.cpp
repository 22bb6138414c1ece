// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "steptape/values/value_options.h"

#include "c/arguments.h"
#include "c/writer_slots.h"

namespace steptape::detail::c {
namespace {

static_assert(static_cast<int>(DType::kBool) == STEPTAPE_BOOL &&
                  static_cast<int>(DType::kInt64) == STEPTAPE_INT64 &&
                  static_cast<int>(DType::kBFloat16) == STEPTAPE_BFLOAT16 &&
                  static_cast<int>(DType::kFloat64) == STEPTAPE_FLOAT64,
              "a steptape_dtype is a DType");

HistogramOptions histogramOptions(const char* function, const steptape_histogram_options* given) {
  const steptape_histogram_options known = optionsOf(function, given);
  HistogramOptions options;
  setCommon(function, known, &options);
  checkList({function, "options->edges"}, known.edges, known.edge_count);
  if (known.edge_count > 0) {
    options.bins = std::vector<double>(known.edges, known.edges + known.edge_count);
  } else if (known.bins != 0) {
    options.bins = known.bins;
  } else if (known.rule != nullptr) {
    options.bins = std::string(textOf({function, "options->rule"}, known.rule));
  }
  options.maxBins = known.max_bins;
  return options;
}

template <typename Options>
Options imageOptions(const char* function, const steptape_image_options* given) {
  const steptape_image_options known = optionsOf(function, given);
  Options options;
  setCommon(function, known, &options);
  if (known.data_format != nullptr) {
    options.dataFormat = textOf({function, "options->data_format"}, known.data_format);
  }
  return options;
}

HparamValue hparamValue(const steptape_hparam& hparam) {
  const Argument argument{"steptape_add_hparams", "hparams"};
  const int kind = numberIn(hparam.kind);
  if (kind == STEPTAPE_HPARAM_NUMBER) {
    return hparam.number;
  }
  if (kind == STEPTAPE_HPARAM_BOOL) {
    return hparam.number != 0;
  }
  if (kind == STEPTAPE_HPARAM_TEXT) {
    return std::string(textOf(argument, hparam.text));
  }
  argument.reject("kind " + std::to_string(kind), "a steptape_hparam_kind");
}

}  // namespace
}  // namespace steptape::detail::c

namespace impl = steptape::detail::c;

extern "C" {

steptape_status steptape_add_histogram(steptape_writer* writer, const char* tag,
                                       const steptape_array* values, int64_t step,
                                       const steptape_histogram_options* options) {
  constexpr const char* kFunction = "steptape_add_histogram";
  return impl::callOpen(kFunction, writer, [&](steptape::SummaryWriter& open) {
    open.addHistogram(impl::textOf({kFunction, "tag"}, tag),
                      impl::viewOf({kFunction, "values"}, values), step,
                      impl::histogramOptions(kFunction, options));
  });
}

steptape_status steptape_add_image(steptape_writer* writer, const char* tag,
                                   const steptape_array* pixels, int64_t step,
                                   const steptape_image_options* options) {
  constexpr const char* kFunction = "steptape_add_image";
  return impl::callOpen(kFunction, writer, [&](steptape::SummaryWriter& open) {
    open.addImage(impl::textOf({kFunction, "tag"}, tag),
                  impl::viewOf({kFunction, "pixels"}, pixels), step,
                  impl::imageOptions<steptape::ImageOptions>(kFunction, options));
  });
}

steptape_status steptape_add_images(steptape_writer* writer, const char* tag,
                                    const steptape_array* pixels, int64_t step,
                                    const steptape_image_options* options) {
  constexpr const char* kFunction = "steptape_add_images";
  return impl::callOpen(kFunction, writer, [&](steptape::SummaryWriter& open) {
    open.addImages(impl::textOf({kFunction, "tag"}, tag),
                   impl::viewOf({kFunction, "pixels"}, pixels), step,
                   impl::imageOptions<steptape::ImagesOptions>(kFunction, options));
  });
}

steptape_status steptape_add_audio(steptape_writer* writer, const char* tag,
                                   const steptape_array* samples, int64_t step,
                                   const steptape_audio_options* options) {
  constexpr const char* kFunction = "steptape_add_audio";
  return impl::callOpen(kFunction, writer, [&](steptape::SummaryWriter& open) {
    const steptape_audio_options known = impl::optionsOf(kFunction, options);
    steptape::AudioOptions audio;
    impl::setCommon(kFunction, known, &audio);
    if (known.sample_rate != 0) {
      audio.sampleRate = known.sample_rate;
    }
    if (known.data_format != nullptr) {
      audio.dataFormat = impl::textOf({kFunction, "options->data_format"}, known.data_format);
    }
    open.addAudio(impl::textOf({kFunction, "tag"}, tag),
                  impl::viewOf({kFunction, "samples"}, samples), step, audio);
  });
}

steptape_status steptape_add_text(steptape_writer* writer, const char* tag, const char* markdown,
                                  int64_t step, const steptape_value_options* options) {
  constexpr const char* kFunction = "steptape_add_text";
  return impl::callOpen(kFunction, writer, [&](steptape::SummaryWriter& open) {
    steptape::TextOptions text;
    impl::setCommon(kFunction, impl::optionsOf(kFunction, options), &text);
    open.addText(impl::textOf({kFunction, "tag"}, tag),
                 impl::textOf({kFunction, "markdown"}, markdown), step, text);
  });
}

steptape_status steptape_add_hparams(steptape_writer* writer, const steptape_hparam* hparams,
                                     size_t hparamCount, const steptape_metric* metrics,
                                     size_t metricCount) {
  constexpr const char* kFunction = "steptape_add_hparams";
  return impl::callOpen(kFunction, writer, [&](steptape::SummaryWriter& open) {
    impl::checkList({kFunction, "hparams"}, hparams, hparamCount);
    impl::checkList({kFunction, "metrics"}, metrics, metricCount);
    steptape::Hparams values;
    for (size_t i = 0; i < hparamCount; ++i) {
      values.emplace_back(impl::textOf({kFunction, "hparams"}, hparams[i].name),
                          impl::hparamValue(hparams[i]));
    }
    steptape::HparamMetrics results;
    for (size_t i = 0; i < metricCount; ++i) {
      results.emplace_back(impl::textOf({kFunction, "metrics"}, metrics[i].tag), metrics[i].value);
    }
    open.addHparams(values, results);
  });
}

steptape_status steptape_add_onnx_graph(steptape_writer* writer, const char* path) {
  constexpr const char* kFunction = "steptape_add_onnx_graph";
  return impl::callOpen(kFunction, writer, [&](steptape::SummaryWriter& open) {
    open.addOnnxGraph(std::string(impl::textOf({kFunction, "path"}, path)));
  });
}

}  // extern "C"
