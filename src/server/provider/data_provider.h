// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "server/grpc/service.h"
#include "server/provider/sample_limits.h"
#include "server/store/log_store.h"

namespace steptape::detail::server {

/// Answers TensorBoard's questions about the runs of a LogStore: the service
/// tensorboard.data.TensorBoardDataProvider.
///
/// @source tensorboard/data/proto/data_provider.proto at 2.21; docs/data_server.md says where the
///         answers differ from those of tensorboard-data-server 0.7.2
class DataProvider final : public Service {
 public:
  /// @param store Outlives this object.
  DataProvider(LogStore* store, SampleLimits limits) : store_(*store), limits_(std::move(limits)) {}

  CallStatus call(std::string_view method, std::string_view request,
                  std::unique_ptr<Answer>* answer) override;

 private:
  CallStatus getExperiment(std::string_view request, std::unique_ptr<Answer>* answer);
  CallStatus listPlugins(std::string_view request, std::unique_ptr<Answer>* answer);
  CallStatus listRuns(std::string_view request, std::unique_ptr<Answer>* answer);
  CallStatus listScalars(std::string_view request, std::unique_ptr<Answer>* answer);
  CallStatus readScalars(std::string_view request, std::unique_ptr<Answer>* answer);
  CallStatus listTensors(std::string_view request, std::unique_ptr<Answer>* answer);
  CallStatus readTensors(std::string_view request, std::unique_ptr<Answer>* answer);
  CallStatus listBlobSequences(std::string_view request, std::unique_ptr<Answer>* answer);
  CallStatus readBlobSequences(std::string_view request, std::unique_ptr<Answer>* answer);
  CallStatus readBlob(std::string_view request, std::unique_ptr<Answer>* answer);

  /// Where a value is: file, record and index.
  using Place = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>;
  static Place placeOf(const ValueLocation& value) {
    return {value.file, value.offset, value.index};
  }
  /// The lengths of the blob sequences of a tag, which only its files tell; none: a value that is
  /// no such sequence.
  using BlobLengths = std::map<Place, std::optional<std::size_t>>;
  struct KnownLengths {
    std::weak_ptr<const ServedRun> run;  ///< Another one once files were replaced.
    BlobLengths lengths;
  };

  BlobLengths lengthsOf(const std::string& runName, const std::shared_ptr<const ServedRun>& run,
                        const std::string& tag, std::string_view plugin,
                        const std::vector<ValueLocation>& values);

  LogStore& store_;
  const SampleLimits limits_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, KnownLengths> lengths_;  // guarded by mutex_
};

}  // namespace steptape::detail::server
