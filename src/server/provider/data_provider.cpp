// SPDX-License-Identifier: Apache-2.0
#include "server/provider/data_provider.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "steptape/events/plugin_content.h"
#include "steptape/wire/data_provider.pb.h"

#include "base/got_expected.h"
#include "base/utf8.h"
#include "events/messages/event_codec.h"
#include "log/reader/event_values.h"
#include "server/provider/answers.h"
#include "server/provider/blob_key.h"
#include "server/provider/questions.h"
#include "server/provider/scalar_data.h"
#include "server/provider/series_filter.h"
#include "server/provider/served_values.h"
#include "server/store/point_choice.h"

namespace steptape::detail::server {
namespace {

namespace pb = wire::provider;

constexpr event::DataClass kScalars = event::DataClass::kScalar;
constexpr event::DataClass kTensors = event::DataClass::kTensor;
constexpr event::DataClass kBlobs = event::DataClass::kBlobSequence;

/// The chosen values of a tag, which are still to be read.
template <typename Data>
struct Chosen {
  std::shared_ptr<const ServedRun> run;
  std::vector<ValueLocation> values;
  Data* data;
};

/// The chosen values of a tag of blob sequences, some of which may turn out to be none.
struct ChosenTag {
  std::shared_ptr<const ServedRun> run;
  std::string runName;
  std::string tag;
  std::string metadata;
  double lastWallTime;
  std::vector<ValueLocation> values;
};

std::vector<ValueLocation> chooseValues(const TagView& tag, std::size_t most) {
  std::vector<ValueLocation> chosen;
  for (const std::size_t i : chooseEvenly(tag, most)) {
    chosen.push_back(tag.value(i));
  }
  return chosen;
}

std::vector<ChosenTag> chooseBlobs(const LogStore& store, const SeriesFilter& filter,
                                   std::size_t most) {
  std::vector<ChosenTag> chosen;
  forEachSeries(store, filter, [&](const ServedSeries& series) {
    const TagView& tag = series.tag;
    if (!tag.hasScalars() && tag.size() > 0) {
      chosen.push_back({series.run, series.runName, std::string(tag.name()), tag.metadata(),
                        tag.lastWallTime(), chooseValues(tag, most)});
    }
  });
  return chosen;
}

/// Returns the entry of a tag in a response to which runs are added one after the other.
template <typename Response>
auto* addTag(const std::string& run, std::string_view tag, Response* response) {
  if (response->runs_size() == 0 || response->runs(response->runs_size() - 1).run_name() != run) {
    response->add_runs()->set_run_name(run);
  }
  auto* const entry = response->mutable_runs(response->runs_size() - 1)->add_tags();
  entry->set_tag_name(std::string(tag));
  return entry;
}

template <typename Data>
void addPoint(const ValueLocation& value, Data* data) {
  data->add_step(value.step);
  data->add_wall_time(value.wallTime);
}

}  // namespace

CallStatus DataProvider::call(std::string_view method, std::string_view request,
                              std::unique_ptr<Answer>* answer) {
  using Call = CallStatus (DataProvider::*)(std::string_view, std::unique_ptr<Answer>*);
  static constexpr std::pair<std::string_view, Call> kCalls[] = {
      {"GetExperiment", &DataProvider::getExperiment},
      {"ListPlugins", &DataProvider::listPlugins},
      {"ListRuns", &DataProvider::listRuns},
      {"ListScalars", &DataProvider::listScalars},
      {"ReadScalars", &DataProvider::readScalars},
      {"ListTensors", &DataProvider::listTensors},
      {"ReadTensors", &DataProvider::readTensors},
      {"ListBlobSequences", &DataProvider::listBlobSequences},
      {"ReadBlobSequences", &DataProvider::readBlobSequences},
      {"ReadBlob", &DataProvider::readBlob},
  };
  constexpr std::string_view kService = "/tensorboard.data.TensorBoardDataProvider/";
  if (method.substr(0, kService.size()) == kService) {
    for (const auto& [name, call] : kCalls) {
      if (method.substr(kService.size()) == name) {
        store_.freshen();
        return (this->*call)(request, answer);
      }
    }
  }
  return {StatusCode::kUnimplemented, "got the unknown method " + std::string(method) +
                                          "; expected one of " + std::string(kService)};
}

CallStatus DataProvider::getExperiment(std::string_view request, std::unique_ptr<Answer>* answer) {
  pb::GetExperimentRequest parsed;
  if (CallStatus status = parse(request, &parsed); !status.ok()) {
    return status;
  }
  pb::GetExperimentResponse response;
  response.set_data_location(base::replaceInvalidUtf8(store_.location()));
  return answerWith(std::move(response), "GetExperiment", answer);
}

CallStatus DataProvider::listPlugins(std::string_view request, std::unique_ptr<Answer>* answer) {
  pb::ListPluginsRequest parsed;
  if (CallStatus status = parse(request, &parsed); !status.ok()) {
    return status;
  }
  std::set<std::string> plugins;
  const std::shared_ptr<const LogStore::Runs> runs = store_.runs();
  for (const auto& [name, run] : *runs) {
    run->forEachTag([&](const TagView& tag) {
      if (tag.dataClass() != event::DataClass::kUnknown && tag.size() > 0) {
        plugins.insert(base::replaceInvalidUtf8(tag.plugin()));
      }
    });
  }
  pb::ListPluginsResponse response;
  for (const std::string& plugin : plugins) {
    response.add_plugins()->set_name(plugin);
  }
  return answerWith(std::move(response), "ListPlugins", answer);
}

CallStatus DataProvider::listRuns(std::string_view request, std::unique_ptr<Answer>* answer) {
  pb::ListRunsRequest parsed;
  if (CallStatus status = parse(request, &parsed); !status.ok()) {
    return status;
  }
  std::vector<std::pair<double, const std::string*>> runs;
  const std::shared_ptr<const LogStore::Runs> all = store_.runs();
  for (const auto& [name, run] : *all) {
    if (const std::optional<double> start = run->startTime()) {
      runs.emplace_back(*start, &name);
    }
  }
  std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : *a.second < *b.second;
  });
  pb::ListRunsResponse response;
  for (const auto& [start, name] : runs) {
    auto* const run = response.add_runs();
    run->set_name(*name);
    run->set_start_time(start);
  }
  return answerWith(std::move(response), "ListRuns", answer);
}

namespace {

/// Lists the tags of a kind that have no more than steps and times.
CallStatus listSeries(const LogStore& store, std::string_view request, event::DataClass dataClass,
                      const char* what, std::unique_ptr<Answer>* answer) {
  SeriesFilter filter;
  if (CallStatus status = parseList(request, dataClass, &filter); !status.ok()) {
    return status;
  }
  pb::ListResponse response;
  forEachSeries(store, filter, [&](const ServedSeries& series) {
    if (series.tag.size() == 0) {
      return;
    }
    auto* const entry = addTag(series.runName, series.tag.name(), &response);
    pb::SeriesMetadata* const metadata = entry->mutable_metadata();
    metadata->set_max_step(series.tag.step(series.tag.size() - 1));
    metadata->set_max_wall_time(series.tag.lastWallTime());
    metadata->set_summary_metadata(series.tag.metadata());
  });
  return answerWith(std::move(response), what, answer);
}

}  // namespace

CallStatus DataProvider::listScalars(std::string_view request, std::unique_ptr<Answer>* answer) {
  return listSeries(store_, request, event::DataClass::kScalar, "ListScalars", answer);
}

CallStatus DataProvider::listTensors(std::string_view request, std::unique_ptr<Answer>* answer) {
  return listSeries(store_, request, event::DataClass::kTensor, "ListTensors", answer);
}

CallStatus DataProvider::readScalars(std::string_view request, std::unique_ptr<Answer>* answer) {
  Question question;
  if (CallStatus status = parseRead(request, kScalars, limits_, &question); !status.ok()) {
    return status;
  }
  auto scalars = std::make_unique<ScalarsAnswer>();
  std::vector<Chosen<std::string>> inFiles;
  std::size_t bytes = 0;
  forEachSeries(store_, question.filter, [&](const ServedSeries& series) {
    if (bytes > kMostAnswerBytes) {
      return;
    }
    std::string* const data = scalars->add(series.runName, series.tag.name());
    if (series.tag.hasScalars()) {
      *data = encodeScalarData(series.tag, question.points);
      bytes += data->size();
    } else {
      // Numbers of a plugin that declares them as scalars.
      inFiles.push_back({series.run, chooseValues(series.tag, question.points), data});
    }
  });
  for (const Chosen<std::string>& chosen : inFiles) {
    ValueReader reader(chosen.run);
    event::Value value;
    pb::ScalarData data;
    for (const ValueLocation& location : chosen.values) {
      if (!reader.read(location, &value)) {
        continue;
      }
      if (const std::optional<double> number = log::numberOf(value)) {
        addPoint(location, &data);
        data.add_value(static_cast<float>(*number));
      }
    }
    data.SerializeToString(chosen.data);
    bytes += chosen.data->size();
  }
  if (bytes > kMostAnswerBytes) {
    return tooLarge("ReadScalars");
  }
  *answer = std::move(scalars);
  return {};
}

CallStatus DataProvider::readTensors(std::string_view request, std::unique_ptr<Answer>* answer) {
  Question question;
  if (CallStatus status = parseRead(request, kTensors, limits_, &question); !status.ok()) {
    return status;
  }
  pb::ReadTensorsResponse response;
  std::vector<Chosen<pb::TensorData>> inFiles;
  forEachSeries(store_, question.filter, [&](const ServedSeries& series) {
    auto* const entry = addTag(series.runName, series.tag.name(), &response);
    pb::TensorData* const data = entry->mutable_data();
    if (!series.tag.hasScalars()) {
      inFiles.push_back({series.run, chooseValues(series.tag, question.points), data});
    }
  });
  std::size_t bytes = 0;
  for (const Chosen<pb::TensorData>& chosen : inFiles) {
    ValueReader reader(chosen.run);
    event::Value value;
    for (const ValueLocation& location : chosen.values) {
      if (!reader.read(location, &value)) {
        continue;
      }
      if (const std::optional<event::Tensor> tensor = tensorOf(value)) {
        addPoint(location, chosen.data);
        events::encodeTensor(*tensor, chosen.data->add_value());
        bytes += chosen.data->value(chosen.data->value_size() - 1).size();
        if (bytes > kMostAnswerBytes) {
          return tooLarge("ReadTensors");
        }
      }
    }
  }
  return answerWith(std::move(response), "ReadTensors", answer);
}

DataProvider::BlobLengths DataProvider::lengthsOf(const std::string& runName,
                                                  const std::shared_ptr<const ServedRun>& run,
                                                  const std::string& tag, std::string_view plugin,
                                                  const std::vector<ValueLocation>& values) {
  KnownLengths known;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    known = lengths_[{runName, tag}];
  }
  if (known.run.lock() != run) {
    known.lengths.clear();  // files were replaced
  }
  BlobLengths now;  // of the values that a page sees now, and no more
  ValueReader reader(run);
  for (const ValueLocation& location : values) {
    const auto found = known.lengths.find(placeOf(location));
    if (found != known.lengths.end()) {
      now.insert(*found);
      continue;
    }
    event::Value value;
    std::optional<std::size_t> length;
    if (reader.read(location, &value)) {
      if (const auto blobs = blobsOf(std::move(value), plugin)) {
        length = blobs->size();
      }
    }
    now.emplace(placeOf(location), length);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  lengths_[{runName, tag}] = {run, now};
  return now;
}

CallStatus DataProvider::listBlobSequences(std::string_view request,
                                           std::unique_ptr<Answer>* answer) {
  SeriesFilter filter;
  if (CallStatus status = parseList(request, kBlobs, &filter); !status.ok()) {
    return status;
  }
  pb::ListBlobSequencesResponse response;
  for (const ChosenTag& each : chooseBlobs(store_, filter, limits_.of(filter.plugin, kBlobs))) {
    std::size_t longest = 0;
    const ValueLocation* last = nullptr;
    double lastTime = -std::numeric_limits<double>::infinity();
    const BlobLengths lengths =
        lengthsOf(each.runName, each.run, each.tag, filter.plugin, each.values);
    for (const ValueLocation& value : each.values) {
      if (const std::optional<std::size_t> length = lengths.at(placeOf(value))) {
        longest = std::max(longest, *length);
        last = &value;
        lastTime = std::max(lastTime, value.wallTime);
      }
    }
    if (last == nullptr) {
      continue;
    }
    auto* const entry = addTag(each.runName, each.tag, &response);
    pb::BlobSequenceMetadata* const metadata = entry->mutable_metadata();
    metadata->set_max_step(last->step);
    metadata->set_max_wall_time(std::max(lastTime, each.lastWallTime));
    metadata->set_max_length(static_cast<std::int64_t>(longest));
    metadata->set_summary_metadata(each.metadata);
  }
  return answerWith(std::move(response), "ListBlobSequences", answer);
}

CallStatus DataProvider::readBlobSequences(std::string_view request,
                                           std::unique_ptr<Answer>* answer) {
  Question question;
  if (CallStatus status = parseRead(request, kBlobs, limits_, &question); !status.ok()) {
    return status;
  }
  pb::ReadBlobSequencesResponse response;
  for (const ChosenTag& each : chooseBlobs(store_, question.filter, question.points)) {
    pb::BlobSequenceData* const data = addTag(each.runName, each.tag, &response)->mutable_data();
    const BlobLengths lengths =
        lengthsOf(each.runName, each.run, each.tag, question.filter.plugin, each.values);
    for (const ValueLocation& value : each.values) {
      const std::optional<std::size_t> length = lengths.at(placeOf(value));
      if (!length) {
        continue;
      }
      addPoint(value, data);
      pb::BlobReferenceSequence* const sequence = data->add_values();
      for (std::size_t i = 0; i < *length; ++i) {
        sequence->add_blob_refs()->set_blob_key(blobKeyOf({each.runName, each.tag, value.step, i}));
      }
    }
  }
  return answerWith(std::move(response), "ReadBlobSequences", answer);
}

CallStatus DataProvider::readBlob(std::string_view request, std::unique_ptr<Answer>* answer) {
  pb::ReadBlobRequest parsed;
  if (CallStatus status = parse(request, &parsed); !status.ok()) {
    return status;
  }
  const std::optional<BlobPlace> place = blobPlaceOf(parsed.blob_key());
  if (!place) {
    constexpr std::size_t kShown = 100;
    return invalid("got the key " + base::quoted(parsed.blob_key().substr(0, kShown)) +
                   "; expected one of this server");
  }
  CallStatus gone{StatusCode::kNotFound, "no blob " + std::to_string(place->index) + " at step " +
                                             std::to_string(place->step) + " of tag " +
                                             base::quoted(place->tag) + " of run " +
                                             base::quoted(place->run)};
  const std::shared_ptr<const LogStore::Runs> runs = store_.runs();
  const auto run = runs->find(place->run);
  if (run == runs->end()) {
    return gone;
  }
  std::optional<ValueLocation> location;
  std::string plugin;
  run->second->withTag(place->tag, [&](const TagView& tag) {
    const std::optional<std::size_t> index = tag.find(place->step);
    if (index && !tag.hasScalars()) {
      location = tag.value(*index);
      plugin = tag.plugin();
    }
  });
  event::Value value;
  if (!location || !ValueReader(run->second).read(*location, &value)) {
    return gone;
  }
  std::optional<std::vector<std::string>> blobs = blobsOf(std::move(value), plugin);
  if (!blobs || place->index >= blobs->size()) {
    return gone;
  }
  *answer = blobParts(std::move((*blobs)[place->index]));
  return {};
}

}  // namespace steptape::detail::server
