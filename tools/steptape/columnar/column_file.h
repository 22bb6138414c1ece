// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace steptape::tools {

/// Turns the CSV of exportCsv() into a Parquet or an Arrow file:
///
///     ColumnFile file("parquet", [&](std::string_view bytes) { output.write(bytes); });
///     exportCsv(runs, options, [&](std::string_view csv) { file.write(csv); });
///     file.finish();
///
/// A child process does it: the Python of pythonToUse(), with pyarrow. No Debian release has
/// Arrow's C++ library, which is also larger than the rest of the tool.
///
/// Not thread-safe: one thread at a time.
class ColumnFile {
 public:
  /// Takes the file piece by piece, on a thread of its own, until finish() returns.
  using Sink = std::function<void(std::string_view bytes)>;

  /// The type of a column.
  enum class Type : char { kText = 't', kInteger = 'i', kNumber = 'n', kBoolean = 'b' };

  /// Starts the child.
  ///
  /// @param format "parquet" or "arrow".
  /// @param types  Of other CSV than that of exportCsv(): for each column. An empty field is no
  ///               value, and "" in quotation marks an empty text.
  /// @throws Error(kIoError) if there is no such Python.
  ColumnFile(const std::string& format, Sink sink, const std::vector<Type>& types = {});
  ColumnFile(const ColumnFile&) = delete;
  ColumnFile& operator=(const ColumnFile&) = delete;
  /// Ends the child; what came out of it is no whole file unless finish() has returned.
  ~ColumnFile();

  /// @throws as finish(), if the child takes no more.
  void write(std::string_view csv);

  /// Waits for the end of the file.
  ///
  /// @throws what the sink threw; Error(kIoError) if that Python has no pyarrow, or failed.
  void finish();

 private:
  void start(const std::vector<Type>& types);
  void passOn();
  int waitForEnd();

  std::string format_;
  Sink sink_;
  std::string python_;
  pid_t child_ = 0;  // 0: none, or it has ended
  int input_ = -1;
  int output_ = -1;
  std::thread reader_;
  std::exception_ptr sinkError_;  // of the reader, until it is joined
};

}  // namespace steptape::tools
