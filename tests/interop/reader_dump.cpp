// SPDX-License-Identifier: Apache-2.0
// reader_dump RUN_DIRECTORY restarts|server|none all|sampled Prints as JSON all that RunReader
// reads of a run, each value in the interpretation of its plugin. Bytes are pairs of hexadecimal
// digits; NaN and the infinities are strings.
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "steptape/base/status.h"
#include "steptape/events/plugin_content.h"
#include "steptape/log/run_reader.h"
#include "steptape/log/values.h"

namespace {

using nlohmann::json;

json bytesJson(const std::string& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    digits += {kDigits[byte >> 4], kDigits[byte & 0xf]};
  }
  return digits;
}

json bytesJson(const std::vector<std::string>& strings) {
  json list = json::array();
  for (const std::string& bytes : strings) {
    list.push_back(bytesJson(bytes));
  }
  return list;
}

json numberJson(double number) {
  if (std::isfinite(number)) {
    return number;
  }
  return std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
}

json numbersJson(const std::vector<double>& numbers) {
  json list = json::array();
  for (const double number : numbers) {
    list.push_back(numberJson(number));
  }
  return list;
}

json tensorJson(const steptape::event::Tensor& tensor) {
  return {{"type", tensor.type},
          {"shape", tensor.shape},
          {"content", bytesJson(tensor.content)},
          {"strings", bytesJson(tensor.strings)}};
}

json imagesJson(const steptape::event::Value& value) {
  steptape::ImageValue images;
  decodeImages(value, &images).throwIfError();
  return {
      {"width", images.width}, {"height", images.height}, {"encoded", bytesJson(images.encoded)}};
}

json audioJson(const steptape::event::Value& value,
               const steptape::event::SummaryMetadata& metadata) {
  steptape::AudioValue audio;
  decodeAudio(value, metadata, &audio).throwIfError();
  json object = {{"content_type", audio.contentType}, {"encoded", bytesJson(audio.encoded)}};
  if (audio.sampleRate) {
    object["sample_rate"] = *audio.sampleRate;
    object["frames"] = audio.frames.value();
    object["channels"] = audio.channels.value();
  }
  return object;
}

json textJson(const steptape::event::Value& value) {
  steptape::TextValue text;
  decodeText(value, &text).throwIfError();
  return {{"shape", text.shape}, {"strings", bytesJson(text.strings)}};
}

json histogramJson(const steptape::event::Value& value) {
  steptape::HistogramValue histogram;
  decodeHistogram(value, &histogram).throwIfError();
  json rows = json::array();
  for (const steptape::HistogramBucket& bucket : histogram.buckets) {
    rows.push_back(numbersJson({bucket.left, bucket.right, bucket.count}));
  }
  return rows;
}

json prCurveJson(const steptape::event::Value& value) {
  steptape::PrCurveValue curve;
  decodePrCurve(value, &curve).throwIfError();
  return {numbersJson(curve.truePositives), numbersJson(curve.falsePositives),
          numbersJson(curve.trueNegatives), numbersJson(curve.falseNegatives),
          numbersJson(curve.precision),     numbersJson(curve.recall)};
}

json meshJson(const steptape::event::Value& value,
              const steptape::event::SummaryMetadata& metadata) {
  steptape::MeshValue mesh;
  decodeMesh(value, metadata, &mesh).throwIfError();
  return {{"name", mesh.mesh.name},
          {"part", mesh.mesh.part},
          {"parts", mesh.mesh.parts},
          {"shape", mesh.mesh.shape},
          {"json_config", mesh.mesh.jsonConfig},
          {"tensor", tensorJson(mesh.numbers)}};
}

json layoutJson(const steptape::event::Value& value) {
  steptape::CustomScalarsLayout layout;
  decodeLayout(value, &layout).throwIfError();
  json categories = json::array();
  for (const steptape::CustomScalarsCategory& category : layout.categories) {
    json charts = json::array();
    for (const steptape::CustomScalarsChart& chart : category.charts) {
      charts.push_back({{"title", chart.title}, {"tags", chart.tags}, {"margins", chart.margins}});
    }
    categories.push_back({{"title", category.title}, {"charts", charts}});
  }
  return categories;
}

json hparamJson(const steptape::HparamValue& value) {
  return std::visit([](const auto& held) { return json(held); }, value.value());
}

/// One overload per alternative of HparamsContent.
struct HparamsJson {
  json operator()(const steptape::HparamsExperiment& experiment) const {
    json object = {{"hparams", json::array()}, {"metrics", json::array()}};
    for (const steptape::HparamInfo& info : experiment.hparams) {
      json domain = json::array();
      for (const steptape::HparamValue& value : info.discrete) {
        domain.push_back(hparamJson(value));
      }
      object["hparams"].push_back({{"name", info.name}, {"discrete", domain}});
    }
    for (const steptape::HparamMetricInfo& metric : experiment.metrics) {
      object["metrics"].push_back(metric.tag);
    }
    return object;
  }
  json operator()(const steptape::HparamsSessionStart& start) const {
    json values = json::object();
    for (const auto& [name, value] : start.hparams) {
      values[name] = hparamJson(value);
    }
    return {{"values", values}, {"group", start.groupName}, {"time", start.startTime}};
  }
  json operator()(const steptape::HparamsSessionEnd& end) const {
    return {{"status", end.status}, {"time", end.endTime}};
  }
};

json hparamsJson(const steptape::event::SummaryMetadata& metadata) {
  steptape::HparamsContent content;
  decodeHparamsContent(metadata.pluginContent, &content).throwIfError();
  return std::visit(HparamsJson(), content);
}

json anyTensorJson(const steptape::event::Value& value) {
  steptape::event::Tensor tensor;
  steptape::decodeTensor(value, &tensor).throwIfError();
  return tensorJson(tensor);
}

json valueJson(const steptape::event::Value& value,
               const steptape::event::SummaryMetadata& metadata) {
  static const std::map<std::string, std::function<json(const steptape::event::Value&)>> kJsonOf = {
      {steptape::event::kImagesPlugin, imagesJson},
      {steptape::event::kTextPlugin, textJson},
      {steptape::event::kHistogramsPlugin, histogramJson},
      {steptape::event::kPrCurvesPlugin, prCurveJson},
      {steptape::event::kCustomScalarsPlugin, layoutJson},
  };
  if (metadata.pluginName == steptape::event::kAudioPlugin) {
    return audioJson(value, metadata);
  }
  if (metadata.pluginName == steptape::event::kMeshPlugin) {
    return meshJson(value, metadata);
  }
  if (metadata.pluginName == steptape::event::kHparamsPlugin) {
    return hparamsJson(metadata);
  }
  if (std::holds_alternative<std::monostate>(value.data)) {
    return nullptr;
  }
  const auto found = kJsonOf.find(metadata.pluginName);
  return found == kJsonOf.end() ? anyTensorJson(value) : found->second(value);
}

/// Returns each point as [step, wall time, value].
json pointsJson(const steptape::RunReader& run, const steptape::TagSeries& series) {
  json points = json::array();
  const steptape::ScalarColumns& scalars = series.scalars;
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    points.push_back({scalars.steps[i], scalars.wallTimes[i], numberJson(scalars.values[i])});
  }
  for (const steptape::ValueLocation& location : series.values) {
    steptape::event::Value value;
    run.value(location, &value).throwIfError();
    points.push_back({location.step, location.wallTime, valueJson(value, series.metadata)});
  }
  return points;
}

json runJson(const steptape::RunReader& run) {
  json object = {{"tags", json::object()}, {"damage", json::array()}};
  for (const auto& [tag, series] : run.tags()) {
    object["tags"][tag] = {{"plugin", series.metadata.pluginName},
                           {"display_name", series.metadata.displayName},
                           {"description", series.metadata.description},
                           {"points", pointsJson(run, series)}};
  }
  for (const steptape::Damage& damage : run.damage()) {
    object["damage"].push_back(damage.status.message());
  }
  return object;
}

steptape::RunReaderOptions optionsOf(const std::string& purge, const std::string& sampling) {
  static const std::map<std::string, steptape::PurgePolicy> kPolicies = {
      {"restarts", steptape::PurgePolicy::kRestarts},
      {"server", steptape::PurgePolicy::kTensorBoardServer},
      {"none", steptape::PurgePolicy::kNone},
  };
  steptape::RunReaderOptions options;
  options.purge = kPolicies.at(purge);
  if (sampling == "sampled") {
    options.sampling = steptape::Sampling::tensorBoard();
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: reader_dump RUN_DIRECTORY restarts|server|none all|sampled\n", stderr);
    return 2;
  }
  try {
    steptape::RunReader run(steptape::listRuns(argv[1]).front(), optionsOf(argv[2], argv[3]));
    run.update();
    std::puts(runJson(run).dump().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reader_dump: %s\n", error.what());
    return 1;
  }
  return 0;
}
