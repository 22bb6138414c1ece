// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/events/plugin_content.h"

#include "events/framing/record_buffer.h"
#include "events/messages/event_codec.h"
#include "support/content_of.h"

#include <gtest/gtest.h>

namespace steptape {

// Names of event files, in the order in which readers read them.
constexpr char kFile[] = "events.out.tfevents.1";
constexpr char kLaterFile[] = "events.out.tfevents.2";

/// A separate log directory for each test, removed afterwards, with helpers to fill it.
class LogDirFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "steptape_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  std::string path(const std::string& name) const { return root_ + "/" + name; }

  /// Writes `bytes` to the file `name`, and creates missing directories.
  std::string writeBytes(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path file = path(name);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary);
    out << bytes;
    EXPECT_TRUE(out.good()) << file;
    return file.string();
  }
  std::string writeEvents(const std::string& name, const std::vector<event::Event>& events) const {
    return writeBytes(name, framed(events));
  }

  std::string contentOf(const std::string& name) const { return test::contentOf(path(name)); }

  static std::string framed(const std::vector<event::Event>& events) {
    detail::events::RecordBuffer buffer;
    for (const event::Event& event : events) {
      detail::events::encodeEvent(event, buffer.beginRecord());
      buffer.endRecord();
    }
    return buffer.take();
  }

  static event::Event eventAt(std::int64_t step, event::Event::What what) {
    event::Event event;
    event.wallTime = 1000.0 + static_cast<double>(step);
    event.step = step;
    event.what = std::move(what);
    return event;
  }
  static event::Event version(const std::string& name = "brain.Event:2") {
    return eventAt(0, event::FileVersion{name});
  }
  static event::Event start(std::int64_t step) {
    return eventAt(step, event::SessionLog{event::SessionLog::Status::kStart, "", ""});
  }
  static event::Event simpleScalar(std::string tag, float number, std::int64_t step) {
    event::Value value;
    value.tag = std::move(tag);
    value.data = number;
    return eventAt(step, event::Summary{{value}});
  }
  /// Rank 0 for one number, else rank 1.
  template <typename Number>
  static event::Value tensorValue(std::string tag, event::TensorType type,
                                  const std::vector<Number>& numbers) {
    event::Tensor tensor;
    tensor.type = type;
    if (numbers.size() != 1) {
      tensor.shape = {static_cast<std::int64_t>(numbers.size())};
    }
    tensor.content.assign(reinterpret_cast<const char*>(numbers.data()),
                          numbers.size() * sizeof(Number));
    event::Value value;
    value.tag = std::move(tag);
    value.data = tensor;
    return value;
  }
  static event::Value ofScalarsPlugin(event::Value value) {
    value.metadata.emplace();
    value.metadata->pluginName = event::kScalarsPlugin;
    return value;
  }

  std::string root_;
};

}  // namespace steptape
