// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/wire/data_provider.pb.h"

#include "server/provider/data_provider.h"
#include "server/store/log_store_fixture.h"

namespace steptape::detail::server {

namespace pb = wire::provider;

/// Asks a DataProvider about a log directory as TensorBoard does.
class ProviderFixture : public LogStoreFixture {
 protected:
  template <typename Response>
  struct Outcome {
    CallStatus status;
    Response response;
  };

  /// Reads the log directory. Call it again after changes.
  void serve(std::string_view limits = {}) {
    provider_.reset();
    store_.reset();
    // One thread reads the newest runs first: when it has read the oldest, it has read all.
    const std::string last = "last read/" + std::string(kFirst);
    writePoint(last, 1, 1);
    const auto written = std::filesystem::last_write_time(path(last));
    std::filesystem::last_write_time(path(last), written - std::chrono::hours(1000));
    LogStoreOptions one = options();
    one.threads = 1;
    store_ = std::make_unique<LogStore>(one);
    expectPoints(*store_, "last read", {{1, 1}});
    std::filesystem::remove_all(path("last read"));
    expectSoon("one run less", [&] { return store_->runs()->count("last read") == 0; });
    provider_ = std::make_unique<DataProvider>(store_.get(), SampleLimits::parse(limits));
  }

  /// Returns the messages of an answer.
  CallStatus askBytes(const std::string& name, const std::string& request,
                      std::vector<std::string>* messages) const {
    std::unique_ptr<Answer> answer;
    CallStatus status =
        provider_->call("/tensorboard.data.TensorBoardDataProvider/" + name, request, &answer);
    if (!status.ok()) {
      return status;
    }
    EXPECT_NE(answer, nullptr) << name;
    for (Message message; answer != nullptr && answer->next(&message, &status);) {
      std::string& bytes = messages->emplace_back(message.size(), '\0');
      message.take(bytes.data(), bytes.size());
    }
    return status;
  }
  template <typename Response, typename Request>
  Outcome<Response> ask(const std::string& name, const Request& request) const {
    Outcome<Response> outcome;
    std::vector<std::string> messages;
    outcome.status = askBytes(name, request.SerializeAsString(), &messages);
    if (outcome.status.ok()) {
      EXPECT_EQ(messages.size(), 1U) << name;
      EXPECT_TRUE(!messages.empty() && outcome.response.ParseFromString(messages[0])) << name;
    }
    return outcome;
  }
  /// As ask(), for a request that succeeds.
  template <typename Response, typename Request>
  Response get(const std::string& name, const Request& request) const {
    Outcome<Response> outcome = ask<Response>(name, request);
    EXPECT_TRUE(outcome.status.ok()) << name << ": " << outcome.status.message;
    return std::move(outcome.response);
  }

  static pb::ListRequest listOf(const std::string& plugin) {
    pb::ListRequest request;
    request.mutable_plugin_filter()->set_plugin_name(plugin);
    return request;
  }
  static pb::ReadRequest readOf(const std::string& plugin, std::int64_t points = 1000) {
    pb::ReadRequest request;
    request.mutable_plugin_filter()->set_plugin_name(plugin);
    request.mutable_downsample()->set_num_points(points);
    return request;
  }

  /// Returns "run/tag" of each entry.
  template <typename Response>
  static Names entriesOf(const Response& response) {
    Names names;
    for (const auto& run : response.runs()) {
      for (const auto& tag : run.tags()) {
        names.push_back(run.run_name() + ":" + tag.tag_name());
      }
    }
    return names;
  }
  template <typename Response>
  static auto onlyEntry(const Response& response) {
    EXPECT_EQ(entriesOf(response).size(), 1U);
    return entriesOf(response).size() == 1 ? response.runs(0).tags(0)
                                           : std::decay_t<decltype(response.runs(0).tags(0))>();
  }

  std::vector<StepValue> readScalars(const pb::ReadRequest& request) const {
    const pb::ScalarData data =
        onlyEntry(get<pb::ReadScalarsResponse>("ReadScalars", request)).data();
    EXPECT_EQ(data.step_size(), data.value_size());
    EXPECT_EQ(data.step_size(), data.wall_time_size());
    std::vector<StepValue> points;
    for (int i = 0; i < data.step_size(); ++i) {
      points.emplace_back(data.step(i), data.value(i));
    }
    return points;
  }
  /// Returns the tensors of the only tag.
  std::vector<event::Tensor> readTensors(const pb::ReadRequest& request) const {
    std::vector<event::Tensor> tensors;
    const auto response = get<pb::ReadTensorsResponse>("ReadTensors", request);
    const auto entry = onlyEntry(response);
    for (const std::string& bytes : entry.data().value()) {
      tensors.push_back(decoded(bytes));
    }
    return tensors;
  }
  /// Decodes a TensorProto as the value of an event.
  static event::Tensor decoded(const std::string& bytes) {
    const auto field = [](char key, const std::string& content) {
      std::string out(1, key);
      for (std::size_t left = content.size();; left >>= 7) {
        out += static_cast<char>((left & 0x7F) | (left >= 0x80 ? 0x80 : 0));
        if (left < 0x80) {
          return out + content;
        }
      }
    };
    // Event.summary, Summary.value, Value.tensor
    event::Event event;
    EXPECT_TRUE(events::decodeEvent(field(0x2A, field(0x0A, field(0x42, bytes))), &event).ok());
    const auto* const summary = std::get_if<event::Summary>(&event.what);
    if (summary == nullptr || summary->values.size() != 1 ||
        !std::holds_alternative<event::Tensor>(summary->values[0].data)) {
      ADD_FAILURE() << "no tensor";
      return {};
    }
    return std::get<event::Tensor>(summary->values[0].data);
  }

  /// Returns the blobs of each step of the only tag.
  std::vector<Names> readBlobs(const pb::ReadRequest& request) const {
    std::vector<Names> steps;
    const auto response = get<pb::ReadBlobSequencesResponse>("ReadBlobSequences", request);
    const auto entry = onlyEntry(response);
    for (const auto& sequence : entry.data().values()) {
      steps.emplace_back();
      for (const auto& reference : sequence.blob_refs()) {
        steps.back().push_back(readBlob(reference.blob_key()));
      }
    }
    return steps;
  }
  std::string readBlob(const std::string& key) const {
    std::string blob;
    for (const std::string& part : readParts(key)) {
      blob += part;
    }
    return blob;
  }
  Names readParts(const std::string& key) const {
    Names parts;
    std::vector<std::string> messages;
    const CallStatus status = askBlob(key, &messages);
    EXPECT_TRUE(status.ok()) << status.message;
    for (const std::string& message : messages) {
      pb::ReadBlobResponse response;
      EXPECT_TRUE(response.ParseFromString(message));
      parts.push_back(response.data());
    }
    return parts;
  }
  CallStatus askBlob(const std::string& key, std::vector<std::string>* messages) const {
    pb::ReadBlobRequest request;
    request.set_blob_key(key);
    return askBytes("ReadBlob", request.SerializeAsString(), messages);
  }

  std::unique_ptr<LogStore> store_;
  std::unique_ptr<DataProvider> provider_;
};

/// A status of this code whose message contains `part`.
MATCHER_P2(IsStatus, code, part, "") {
  *result_listener << static_cast<int>(arg.code) << ": " << arg.message;
  return arg.code == code && arg.message.find(part) != std::string::npos;
}

}  // namespace steptape::detail::server
