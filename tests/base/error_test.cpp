// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "steptape/base/status.h"

#include "base/torch_error_text.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

TEST(Error, HasMessageAndCode) {
  const Error error(ErrorCode::kInvalidArgument, "tag is empty");
  EXPECT_STREQ(error.what(), "tag is empty");
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
}

TEST(ErrorCode, HasAName) {
  EXPECT_STREQ(errorCodeName(ErrorCode::kInvalidArgument), "InvalidArgument");
  EXPECT_STREQ(errorCodeName(ErrorCode::kIoError), "IoError");
  EXPECT_STREQ(errorCodeName(ErrorCode::kDataLoss), "DataLoss");
  EXPECT_STREQ(errorCodeName(ErrorCode::kDeadlineExceeded), "DeadlineExceeded");
  EXPECT_STREQ(errorCodeName(ErrorCode::kResourceExhausted), "ResourceExhausted");
  EXPECT_STREQ(errorCodeName(ErrorCode::kRankMismatch), "RankMismatch");
  EXPECT_STREQ(errorCodeName(ErrorCode::kFailedPrecondition), "FailedPrecondition");
  EXPECT_STREQ(errorCodeName(static_cast<ErrorCode>(99)), "Unknown");
}

TEST(Status, IsSuccessByDefault) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.message(), "");
}

TEST(Status, HoldsAFailure) {
  const Status status(ErrorCode::kIoError, "disk full");
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::kIoError);
  EXPECT_EQ(status.message(), "disk full");
}

TEST(Status, KeepsItsMessageInCopies) {
  Status copy;
  {
    const Status status(ErrorCode::kIoError, "disk full");
    copy = status;
  }
  EXPECT_EQ(copy.message(), "disk full");
}

TEST(Status, ThrowsAFailureAsAnError) {
  const Status status(ErrorCode::kDataLoss, "bad checksum");
  try {
    status.throwIfError();
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kDataLoss);
    EXPECT_STREQ(error.what(), "bad checksum");
  }
}

TEST(Status, DoesNotThrowOnSuccess) {
  EXPECT_NO_THROW(Status().throwIfError());
}

TEST(TorchErrorText, HasNoStackFrames) {
  using detail::base::torchErrorText;
  EXPECT_EQ(torchErrorText("no such device\nException raised from f at x.cpp:1 (most recent call "
                           "first):\nframe #0: f() + 0x1\n"),
            "no such device");
  EXPECT_EQ(torchErrorText("disk full: a\nb"), "disk full: a\nb");
}

}  // namespace
}  // namespace steptape
