// SPDX-License-Identifier: Apache-2.0
// Fuzzes the requests of TensorBoard's data provider: the first byte is the call.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "steptape/ranks/testing.h"
#include "steptape/steptape.h"

#include "fuzz/fuzz_input.h"
#include "server/provider/data_provider.h"
#include "server/store/log_store.h"

namespace steptape {
namespace {

namespace server = detail::server;

constexpr std::string_view kCalls[] = {
    "GetExperiment", "ListPlugins", "ListRuns",          "ListScalars",       "ReadScalars",
    "ListTensors",   "ReadTensors", "ListBlobSequences", "ReadBlobSequences", "ReadBlob",
};

/// A log directory with a run of a few points of each kind.
class SmallLog {
 public:
  SmallLog() {
    const std::string path = folder_.path().string();
    ::setenv("STEPTAPE_BLACK_BOX", "off", /*overwrite=*/1);
    const std::vector<std::uint8_t> pixels{0, 85, 170, 255};
    SummaryWriter writer(path + "/run");
    for (std::int64_t step = 0; step < 4; ++step) {
      writer.addScalar("loss", 1.0 / static_cast<double>(step + 1), step);
      writer.addHistogram("weights", std::vector<float>{1, 2, 3}, step);
      writer.addText("notes", "a text", step);
      writer.addImage("picture", TensorView(pixels.data(), {1, 2, 2}), step);
    }
    writer.close().throwIfError();
    server::LogStoreOptions options;
    options.directories = {{"", path}};
    options.once = true;
    store_ = std::make_unique<server::LogStore>(options);
    while (tags() < 4) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  SmallLog(const SmallLog&) = delete;
  SmallLog& operator=(const SmallLog&) = delete;
  ~SmallLog() = default;  // the store ends before its folder

  server::LogStore* store() { return store_.get(); }

 private:
  int tags() const {
    int count = 0;
    const std::shared_ptr<const server::LogStore::Runs> runs = store_->runs();
    for (const auto& [name, run] : *runs) {
      run->forEachTag([&](const server::TagView& tag) { count += tag.size() == 4 ? 1 : 0; });
    }
    return count;
  }

  testing::TempDir folder_;
  std::unique_ptr<server::LogStore> store_;
};

void tryCall(std::size_t call, const std::string& request) {
  static SmallLog log;
  server::DataProvider provider(log.store(), server::SampleLimits::parse(""));
  std::unique_ptr<server::Answer> answer;
  server::CallStatus status = provider.call(
      "/tensorboard.data.TensorBoardDataProvider/" + std::string(kCalls[call]), request, &answer);
  require(status.ok() == (answer != nullptr), "a call succeeds or says why not");
  if (!status.ok()) {
    require(!status.message.empty() && status.message.size() < 4096, "a refusal has a short text");
    return;
  }
  constexpr int kMostMessages = 2;  // a message and the end, as no value here has several parts
  server::Message message;
  int messages = 0;
  while (answer->next(&message, &status)) {
    require(++messages < kMostMessages, "an answer ends");
    require(message.size() < (64 << 10), "an answer is no larger than the log");
  }
  require(status.ok(), "an answer that has begun ends well");
}

}  // namespace
}  // namespace steptape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  steptape::FuzzInput input(data, size);
  const std::size_t call = input.below(std::size(steptape::kCalls));
  steptape::tryCall(call, input.rest());
  return 0;
}
