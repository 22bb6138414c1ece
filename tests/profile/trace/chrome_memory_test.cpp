// SPDX-License-Identifier: Apache-2.0
//
// The maximum memory for reading a Chrome trace. The texts come through a FIFO, so that they are
// never in memory as a whole.
#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"

#include "profile/trace/chrome/chrome_trace.h"
#include "support/allocations.h"
#include "support/expect_error.h"
#include "support/sweep.h"

#include <gmock/gmock.h>
#include <zlib.h>

namespace steptape {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::size_t kMiB = std::size_t{1} << 20;
const std::size_t kLong = (test::takesEveryCase() ? 40 : 13) * kMiB;
// Buffers, and tokens of at most 1 MiB while they grow.
constexpr std::size_t kBound = 12 * kMiB;

constexpr std::size_t kBlock = std::size_t{1} << 14;

constexpr char kEvent[] =
    R"({"ph": "X", "name": "aten::mm", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 2})";

/// Generates pieces of a text without storing it.
class TextStream {
 public:
  TextStream& add(std::string text) { return repeat(std::move(text), 1); }
  TextStream& repeat(std::string text, std::size_t bytes) {
    pieces_.push_back({text, std::max<std::size_t>(1, bytes / text.size())});
    return *this;
  }

  /// Calls `write` with all pieces, as long as it returns true.
  void writeTo(const std::function<bool(const std::string&)>& write) const {
    for (const Piece& piece : pieces_) {
      const std::size_t ofBlock = std::min(piece.count, kBlock / piece.text.size() + 1);
      std::string block;
      for (std::size_t i = 0; i < ofBlock; ++i) {
        block += piece.text;
      }
      for (std::size_t left = piece.count; left > 0;) {
        const std::size_t now = std::min(left, ofBlock);
        block.resize(now * piece.text.size());
        if (!write(block)) {
          return;
        }
        left -= now;
      }
    }
  }

 private:
  struct Piece {
    std::string text;
    std::size_t count;
  };
  std::vector<Piece> pieces_;
};

class ChromeReaderMemory : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    // A reader that rejects a text closes the pipe to its writer.
    ASSERT_NE(std::signal(SIGPIPE, SIG_IGN), SIG_ERR);
    ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  }

  std::vector<Trace> read(const TextStream& text) {
    std::thread writer([&] { isCompressed() ? compress(text) : copy(text); });
    const std::size_t before = bytesInUse();
    forgetMostBytesInUse();
    try {
      std::vector<Trace> traces = detail::profile::readChromeTrace(path_);
      peak_ = mostBytesInUse() - before;
      writer.join();
      return traces;
    } catch (...) {
      peak_ = mostBytesInUse() - before;
      writer.join();
      throw;
    }
  }
  void expectOneSpan(const TextStream& text) {
    const std::vector<Trace> traces = read(text);
    ASSERT_THAT(traces, SizeIs(1));
    ASSERT_THAT(traces[0].threads, SizeIs(1));
    EXPECT_THAT(traces[0].threads[0].spans, SizeIs(1));
    EXPECT_LT(peak_, kBound);
  }
  void expectNothing(const TextStream& text) {
    EXPECT_THAT(read(text), SizeIs(0));
    EXPECT_LT(peak_, kBound);
  }
  void expectError(const TextStream& text, const std::string& words) {
    const Error error = test::errorOf([&] { read(text); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), AllOf(HasSubstr(path_), HasSubstr(words)));
    EXPECT_LT(peak_, kBound);
  }

 private:
  static bool isCompressed() { return GetParam(); }

  void copy(const TextStream& text) const {
    const int fifo = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    text.writeTo([fifo](const std::string& block) {
      for (std::size_t done = 0; done < block.size();) {
        const ssize_t written = ::write(fifo, block.data() + done, block.size() - done);
        if (written < 0) {
          return false;
        }
        done += static_cast<std::size_t>(written);
      }
      return true;
    });
    ::close(fifo);
  }
  void compress(const TextStream& text) const {
    const gzFile file = gzopen(path_.c_str(), "wb1");
    text.writeTo([file](const std::string& block) {
      return gzwrite(file, block.data(), static_cast<unsigned>(block.size())) > 0;
    });
    gzclose(file);
  }

  const testing::TempDir dir_;
  const std::string path_ = dir_.string() + "/trace.json";
  std::size_t peak_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Forms, ChromeReaderMemory, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "gzip" : "plain"; });

TextStream fileWith(const std::function<void(TextStream*)>& addMember) {
  TextStream text;
  text.add("{");
  addMember(&text);
  text.add(std::string("\"traceEvents\": [") + kEvent + "]}");
  return text;
}

TEST_P(ChromeReaderMemory, IsBoundedForBlanksAroundTheFile) {
  TextStream text;
  expectOneSpan(text.repeat(" \n", kLong)
                    .add(std::string("{\"traceEvents\": [") + kEvent + "]}")
                    .repeat("\t\r\n ", kLong));
}

TEST_P(ChromeReaderMemory, IsBoundedForBlanksBetweenEvents) {
  TextStream text;
  expectOneSpan(
      text.add("{\"traceEvents\": [").repeat("  ", kLong).add(std::string(kEvent) + "]}"));
}

TEST_P(ChromeReaderMemory, IsBoundedForALongString) {
  for (const char* content : {"x", "\u00e4", R"(\n)", R"(\")", R"(\ud83d\ude00)"}) {
    expectOneSpan(fileWith(
        [&](TextStream* text) { text->add("\"note\": \"").repeat(content, kLong).add("\", "); }));
  }
}

TEST_P(ChromeReaderMemory, IsBoundedForALongKey) {
  expectOneSpan(
      fileWith([](TextStream* text) { text->add("\"").repeat("k", kLong).add("\": 1, "); }));
}

TEST_P(ChromeReaderMemory, IsBoundedForALongArray) {
  expectOneSpan(fileWith(
      [](TextStream* text) { text->add("\"numbers\": [").repeat("1,", kLong).add("2], "); }));
}

TEST_P(ChromeReaderMemory, IsBoundedForManyMembersOfTheFile) {
  expectOneSpan(fileWith([](TextStream* text) { text->repeat("\"a\": 1, ", kLong); }));
}

TEST_P(ChromeReaderMemory, IsBoundedForManyArgumentsOfAnEvent) {
  TextStream text;
  expectOneSpan(text.add(R"({"traceEvents": [{"args": {)")
                    .repeat(R"("a": 1, )", kLong)
                    .add("\"a\": [")
                    .repeat("{},", kLong)
                    .add("1]}, ")
                    .add(std::string(kEvent + 1) + "]}"));
}

TEST_P(ChromeReaderMemory, IsBoundedForForeignValuesAmongTheEvents) {
  for (const char* stranger : {"7", "true", "[[], {}]"}) {
    TextStream text;
    expectOneSpan(text.add(R"({"traceEvents": [)")
                      .repeat(std::string(stranger) + ",", kLong)
                      .add(std::string(kEvent) + "]}"));
  }
}

TEST_P(ChromeReaderMemory, CountsForeignValuesAmongTheEventsAsLost) {
  constexpr std::size_t kStrangers = 1'000'000;
  TextStream text;
  text.add(R"({"traceEvents": [)").repeat("null,", 5 * kStrangers).add(std::string(kEvent) + "]}");
  const std::vector<Trace> traces = read(text);
  ASSERT_THAT(traces, SizeIs(1));
  EXPECT_EQ(traces[0].dropped, kStrangers);
}

TEST_P(ChromeReaderMemory, IsBoundedForAFileThatIsAnArray) {
  TextStream text;
  text.add("[").repeat("7,", kLong).add("7]");
  expectNothing(text);
}

TEST_P(ChromeReaderMemory, IsBoundedForNestedArrays) {
  TextStream text;
  text.add("{\"a\": ").repeat("[", kLong);
  expectError(text, "byte 1006 of its text: got more than 1000 levels of arrays and objects");
}

TEST_P(ChromeReaderMemory, IsBoundedForALongNumber) {
  TextStream text;
  text.add("{\"a\": ").repeat("1", kLong);
  expectError(text, "byte 1007 of its text: got a number of more than 1000 characters");
}

TEST_P(ChromeReaderMemory, IsBoundedForAnUnterminatedString) {
  TextStream text;
  text.add("{\"a\": \"").repeat("x", kLong);
  expectError(text, "missing closing quote");
}

TEST_P(ChromeReaderMemory, CountsTheBytesBeforeAnErrorThatItLeavesOut) {
  TextStream text;
  text.add("{\"a\": ").repeat(" ", kLong).add("\"").repeat("x", kLong);
  text.add("\", \"b\": [").repeat("[],", 3 * kMiB).add("?");
  constexpr std::size_t kOthers = 6 + 2 + 8 + 1;  // around blanks, the string and the arrays
  expectError(text,
              "byte " + std::to_string(2 * kLong + 3 * kMiB + kOthers) + " of its text: syntax");
}

}  // namespace
}  // namespace steptape
