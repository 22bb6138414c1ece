// SPDX-License-Identifier: Apache-2.0
// Logs each kind of value from the numbers of peer_numbers.py: what peer_logs.py logs with the
// writers that Python has.
//
//   peer_writer NUMBERS LOGDIR ONNX

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "steptape/steptape.h"

#include "peer_media.h"
#include "peer_numbers.h"
#include "peer_options.h"

namespace {

using steptape::SummaryWriter;
using steptape::TensorView;

void logScalars(SummaryWriter& writer, const PeerNumbers& numbers) {
  for (const std::string tag : {"curve", "unusual"}) {
    std::int64_t step = 0;
    for (const double value : numbers.doubles(tag)) {
      writer.addScalar("group/" + tag, value, step, at<steptape::ScalarOptions>(step));
      ++step;
    }
  }
  auto options = at<steptape::ScalarOptions>(0);
  writer.addScalar("a tag/ü?", 1, 0, options);
  writer.addScalar("doubles", 1, 0, options);
  options.displayName = "Loss";
  options.description = "of *one* batch";
  writer.addScalar("described", 1, 0, options);
}

void logScalarGroups(SummaryWriter& writer, const PeerNumbers& numbers) {
  const std::vector<double> values = numbers.doubles("curves");
  const std::size_t steps = values.size() / 2;
  for (std::size_t i = 0; i < steps; ++i) {
    const auto step = static_cast<std::int64_t>(i);
    writer.addScalars("both/curves", {{"a", values[i]}, {"b", values[steps + i]}}, step,
                      at<steptape::ScalarOptions>(step));
  }
  writer.exportScalarsToJson(writer.logDir() + "/../scalars.json").throwIfError();
}

void logHistograms(SummaryWriter& writer, const PeerNumbers& numbers) {
  const auto add = [&writer](const std::string& tag, const TensorView& values,
                             const steptape::HistogramBins& bins = {}, int maxBins = 0,
                             std::int64_t step = 0) {
    auto options = at<steptape::HistogramOptions>(step);
    options.bins = bins;
    options.maxBins = maxBins;
    writer.addHistogram(tag, values, step, options);
  };
  for (const std::string name :
       {"normal", "float32", "float16", "integers", "bytes", "truths", "equal", "zeros"}) {
    for (std::int64_t step = 0; step < numbers[name].shape()[0]; ++step) {
      add("values/" + name, numbers.at(name, step), {}, 0, step);
    }
  }
  const TensorView normal = numbers.at("normal", 0);
  for (const std::string rule : {"auto", "fd", "sturges", "doane", "scott", "rice", "sqrt"}) {
    add("bins/" + rule, normal, rule);
    add("integer_bins/" + rule, numbers.at("integers", 0), rule);
  }
  add("bins/count", normal, 20);
  add("bins/edges", normal, numbers.doubles("edges"));
  add("max_bins/64_of_16", normal, 64, 16);
  add("max_bins/50_of_16", normal, 50, 16);
  add("inner_edges", normal, numbers.doubles("inner_edges"));
  add("far_out", numbers["far_out"]);
  add("not_finite", numbers["not_finite"]);
  add("empty", numbers["empty"]);
}

void logRawHistograms(SummaryWriter& writer, const PeerNumbers& numbers) {
  steptape::HistogramRaw raw;
  raw.min = -2;
  raw.max = 1.5;
  raw.num = 10;
  raw.sum = 1.25;
  raw.sumSquares = 8.5;
  raw.bucketLimits = numbers.doubles("raw_limits");
  raw.bucketCounts = numbers.doubles("raw_counts");
  writer.addHistogramRaw("raw", raw, 3, at<steptape::HistogramOptions>(3));
}

void logTexts(SummaryWriter& writer, const PeerNumbers& /*numbers*/) {
  const std::vector<std::string> texts = {"*markdown* and `code`",
                                          "# A heading\n\n- a list\n- ü <b>&</b>",
                                          "| a | b |\n|---|---|\n| 1 | 2 |"};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto step = static_cast<std::int64_t>(i);
    writer.addText("note", texts[i], step, at<steptape::TextOptions>(step));
  }
}

void logPrCurves(SummaryWriter& writer, const PeerNumbers& numbers) {
  const TensorView labels = numbers["labels"];
  const TensorView predictions = numbers["predictions"];
  auto options = at<steptape::PrCurveOptions>(1);
  writer.addPrCurve("default", labels, predictions, 1, options);
  options.weights = numbers["example_weights"];
  writer.addPrCurve("weights", labels, predictions, 1, options);
  options.weights.reset();
  options.numThresholds = 11;
  writer.addPrCurve("eleven", labels, predictions, 1, options);
  options.numThresholds = 1000;
  writer.addPrCurve("many", labels, predictions, 1, options);

  const std::vector<double> rows = numbers.doubles("counts");
  const std::size_t columns = rows.size() / 6;
  const auto row = [&](std::size_t i) {
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(i * columns);
    return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(columns));
  };
  writer.addPrCurveRaw("raw", {row(0), row(1), row(2), row(3), row(4), row(5)}, 1,
                       at<steptape::PrCurveOptions>(1));
}

void logMeshes(SummaryWriter& writer, const PeerNumbers& numbers) {
  const TensorView vertices = numbers["vertices"];
  auto options = at<steptape::MeshOptions>(4);
  writer.addMesh("cloud", vertices, 4, options);
  options.colors = numbers["color_fractions"];
  writer.addMesh("fractions", vertices, 4, options);
  options.colors = numbers["colors"];
  writer.addMesh("colored", vertices, 4, options);
  options.faces = numbers["faces"];
  options.configJson = R"({"camera": {"cls": "PerspectiveCamera", "fov": 75}})";
  writer.addMesh("whole", vertices, 4, options);
}

void logEmbeddings(SummaryWriter& writer, const PeerNumbers& numbers) {
  steptape::EmbeddingOptions pictures;
  steptape::EmbeddingOptions table;
  for (std::int64_t i = 0; i < numbers["matrix"].shape()[0]; ++i) {
    const std::string name = "point " + std::to_string(i);
    pictures.metadata.push_back({name});
    table.metadata.push_back({name, i % 2 == 0 ? "even" : "odd"});
  }
  pictures.labelImages = numbers["thumbnails"];
  pictures.step = 3;
  pictures.tag = "with/images";
  writer.addEmbedding(numbers["matrix"], pictures);

  table.metadataHeader = {"name", "class"};
  table.tag = "table";
  writer.addEmbedding(numbers["matrix_float64"], table);

  steptape::EmbeddingOptions later;
  later.step = 100000;
  later.tag = "table";
  writer.addEmbedding(numbers["matrix"], later);
}

void logLayouts(SummaryWriter& writer, const PeerNumbers& /*numbers*/) {
  using Chart = steptape::CustomScalarsChart;
  writer.addCustomScalarsMultilineChart({"rate"}, "quick", "lines");
  writer.addCustomScalarsMarginChart({"rate", "lower", "upper"}, "quick", "band");
  writer.addCustomScalars({{{"losses",
                             {Chart::multiline("both", {"loss/train", "loss/test"}),
                              Chart::margin("test", {"loss/test", "loss/lower", "loss/upper"})}},
                            {"rates", {Chart::multiline("rate", {"rate"})}}}});
  writer.addScalar("rate", 1, 0, at<steptape::ScalarOptions>(0));
}

template <typename Options>
Options named() {
  auto options = at<Options>(0);
  options.displayName = "Name";
  options.description = "*text*";
  return options;
}

/// The names that the Python writers support only for scalars. A tag is the plugin's name.
void logNames(SummaryWriter& writer, const PeerNumbers& numbers) {
  writer.addScalar("scalars", 1, 0, named<steptape::ScalarOptions>());
  writer.addHistogram("histograms", numbers["equal"], 0, named<steptape::HistogramOptions>());
  writer.addImage("images", numbers["chw"], 0, named<steptape::ImageOptions>());
  writer.addAudio("audio", numbers["mono"], 0, named<steptape::AudioOptions>());
  writer.addPrCurve("pr_curves", numbers["labels"], numbers["predictions"], 0,
                    named<steptape::PrCurveOptions>());
}

void logTensors(SummaryWriter& writer, const PeerNumbers& numbers) {
  for (const std::string& name : numbers.names()) {
    if (name.rfind("tensor_", 0) == 0) {
      writer.addTensor(name, numbers[name], 7, at<steptape::ValueOptions>(7));
    }
  }
}

/// Logs ten steps, then continues from the seventh.
void logResumed(const std::string& directory) {
  const auto log = [&directory](std::int64_t begin, std::int64_t end,
                                const steptape::WriterOptions& options) {
    SummaryWriter writer(directory, options);
    for (std::int64_t step = begin; step < end; ++step) {
      const auto value = static_cast<double>(step);
      writer.addScalar("again", value, step);
      writer.addScalars("curves", {{"a", value}}, step);
      if (begin == 0) {
        writer.addScalar("before", value, step);
      }
    }
    writer.close().throwIfError();
  };
  log(0, 10, {});
  steptape::WriterOptions resumed;
  resumed.purgeStep = 6;
  log(6, 9, resumed);
}

void logTrials(const std::string& directory, const steptape::HparamsOptions& options) {
  SummaryWriter first(directory + "/trial_0");
  first.addHparams({{"lr", 0.1}, {"layers", 3}, {"optimizer", "sgd"}, {"amp", true}},
                   {{"result/accuracy", 0.75}, {"result/loss", 0.5}}, options);
  SummaryWriter second(directory + "/trial_1");
  second.addHparams({{"lr", 0.01}, {"layers", 5}, {"optimizer", "adam"}, {"amp", false}},
                    {{"result/accuracy", 0.875}, {"result/loss", 0.25}}, options);
}

/// Logs the trials with an experiment record, which names the columns of TensorBoard's table.
void logStudy(const std::string& directory) {
  const auto column = [](const char* name, std::vector<steptape::HparamValue> discrete) {
    steptape::HparamInfo info;
    info.name = name;
    info.discrete = std::move(discrete);
    return info;
  };
  steptape::HparamsExperiment experiment;
  experiment.hparams = {column("lr", {0.1, 0.01}), column("optimizer", {"sgd", "adam"})};
  experiment.metrics = {{"result/accuracy"}, {"result/loss"}};
  steptape::HparamsOptions options;
  options.experiment = std::move(experiment);
  logTrials(directory, options);
}

void logAll(const PeerNumbers& numbers, const std::string& logDir, const std::string& onnx) {
  // As in peer_logs.py, each kind in a separate run.
  const auto log = [&](const char* run, auto logKind) {
    SummaryWriter writer(logDir + "/" + run);
    logKind(writer, numbers);
    writer.close().throwIfError();
  };
  log("scalars", logScalars);
  log("scalar_groups", logScalarGroups);
  log("histograms", logHistograms);
  log("raw_histograms", logRawHistograms);
  log("images", logImages);
  log("image_batches", logImageBatches);
  log("boxes", logBoxes);
  log("figures", logFigures);
  log("videos", logVideos);
  log("sounds", logSounds);
  log("texts", logTexts);
  log("pr_curves", logPrCurves);
  log("meshes", logMeshes);
  log("embeddings", logEmbeddings);
  log("layouts", logLayouts);
  log("names", logNames);
  log("tensors", logTensors);
  log("onnx", [&onnx](SummaryWriter& writer, const PeerNumbers&) { writer.addOnnxGraph(onnx); });
  logResumed(logDir + "/resumed");
  logTrials(logDir + "/trials", {});
  // In another log directory, because a record applies to all runs of one.
  logStudy(logDir + "_study");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: peer_writer NUMBERS LOGDIR ONNX\n", stderr);
    return 2;
  }
  try {
    logAll(PeerNumbers(argv[1]), argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "peer_writer: %s\n", error.what());
    return 1;
  }
  return 0;
}
