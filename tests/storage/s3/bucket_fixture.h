// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "storage/memory_bucket.h"
#include "storage/own_aws_environment.h"
#include "storage/s3/bucket.h"
#include "storage/s3/credentials_fixture.h"

#include <gtest/gtest.h>

namespace steptape::detail::storage {

// Google Test prints an outcome with this function.
inline std::ostream& operator<<(std::ostream& out, StorageResult::Outcome outcome) {
  constexpr const char* kNames[] = {"kDone", "kMissing", "kChanged", "kFailed", "kRefused"};
  return out << kNames[static_cast<int>(outcome)];
}

/// Asks a bucket in memory for objects below "s3://runs/exp".
class BucketTest : public ::testing::Test {
 protected:
  using Outcome = StorageResult::Outcome;

  BucketTest() {
    options_.stallTimeout = std::chrono::seconds(60);
    settings_ = server_.settings();
  }

  Bucket bucket(const std::string& url = "s3://runs/exp") const {
    return Bucket(parseBucketUrl(url, "test"), settings_, options_, clock_);
  }

  StorageResult put(Bucket* bucket, const std::string& path, const std::string& bytes,
                    const std::string& etag = "") {
    return bucket->put(path, ObjectBody::of(bytes), etag, &etag_);
  }
  /// Reads into `read_`.
  StorageResult get(Bucket* bucket, const std::string& path, std::uint64_t offset = 0,
                    const std::string& etag = "") {
    read_.clear();
    return bucket->get(
        path, offset, etag,
        [this](std::string_view piece) {
          read_ += piece;
          return true;
        },
        &head_);
  }
  /// Lists into `listed_`: "<path> <bytes>" of each.
  StorageResult list(Bucket* bucket) {
    listed_.clear();
    return bucket->list([this](const ObjectInfo& object) {
      listed_.push_back(object.path + ' ' + std::to_string(object.bytes));
    });
  }

  test::OwnAwsEnvironment environment_;
  test::MemoryBucket server_;
  AwsSettings settings_;
  Bucket::Options options_;
  SettableClock clock_;
  std::string read_;
  std::vector<std::string> listed_;
  std::string etag_;
  ObjectHead head_;
};

}  // namespace steptape::detail::storage
