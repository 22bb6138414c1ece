// SPDX-License-Identifier: Apache-2.0
#include "server/provider/answers.h"

#include <utility>

#include "steptape/wire/data_provider.pb.h"

namespace steptape::detail::server {
namespace {

constexpr std::size_t kBlobPart = std::size_t{8} << 20;

/// The parts of a blob.
class BlobParts final : public Answer {
 public:
  explicit BlobParts(std::string blob) : blob_(std::move(blob)) {}

  bool next(Message* message, CallStatus* status) override {
    if (taken_ == blob_.size()) {
      *status = CallStatus();
      return false;
    }
    wire::provider::ReadBlobResponse response;
    response.set_data(blob_.substr(taken_, kBlobPart));
    taken_ += response.data().size();
    message->append(response.SerializeAsString());
    return true;
  }

 private:
  std::string blob_;
  std::size_t taken_ = 0;
};

}  // namespace

CallStatus tooLarge(const std::string& what) {
  return {StatusCode::kResourceExhausted,
          what +
              ": the answer has more than 256 MiB, which TensorBoard does not take; ask for "
              "fewer points (--samples_per_plugin), runs or tags"};
}

std::unique_ptr<Answer> blobParts(std::string blob) {
  return std::make_unique<BlobParts>(std::move(blob));
}

}  // namespace steptape::detail::server
