// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace example {

inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;

/// An invalid command line; what() is the message for the user.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The options of a program: `--name value` or `--name=value`, and `--name` for a bool.
///
///     std::int64_t epochs = 1;                      // the default
///     example::CommandLine line("Trains a network.\n\n  train [options]\n");
///     line.add("epochs", epochs, "N", "passes over the training images", 1);
///     if (!line.parse(argc, argv)) { std::cout << line.help(); return 0; }
///
/// @threads Not thread-safe: one thread at a time.
class CommandLine {
 public:
  /// @param summary The text that --help prints above the options.
  explicit CommandLine(std::string summary) : summary_(std::move(summary)) {}

  // Adds one option: its name, the variable that it sets, and the placeholder and the meaning that
  // --help prints. The variable holds the default and must outlive this object. `least` is the
  // smallest number allowed.
  void add(std::string name, std::string& value, std::string placeholder, std::string meaning);
  void add(std::string name, std::int64_t& value, std::string placeholder, std::string meaning,
           std::int64_t least = 0);
  void add(std::string name, double& value, std::string placeholder, std::string meaning,
           double least = 0);
  void add(std::string name, bool& value, std::string meaning);

  /// Collects the arguments after the options or after `--`. Without this call they are an error.
  void addRest(std::vector<std::string>& rest) { rest_ = &rest; }

  /// Sets the variables.
  ///
  /// @return false if --help is one of the options.
  /// @throws UsageError if an option is unknown or its value is invalid.
  bool parse(int argc, const char* const* argv);

  /// Returns the summary and one line for each option, with its default.
  std::string help() const;

 private:
  struct Option {
    std::string name;
    std::string placeholder;  ///< Empty: the option has no value.
    std::string meaning;
    std::string defaultText;
    std::function<void(const std::string&)> set;
  };
  const Option& find(const std::string& name) const;
  void take(const std::string& argument, int argc, const char* const* argv, int& next);

  std::string summary_;
  std::vector<Option> options_;
  std::vector<std::string>* rest_ = nullptr;
};

/// Splits "a,b,c" into its parts; empty parts are skipped.
std::vector<std::string> splitList(const std::string& text, char separator = ',');

/// Parses `text` as a whole number of at least `least`.
///
/// @throws UsageError that begins with `what` if it is not one.
std::int64_t wholeNumber(const std::string& what, const std::string& text, std::int64_t least);

/// Returns the last part of argv[0].
std::string programName(const char* path);

/// The main() of an example without MPI: parses the command line and calls `run`. Prints help, and
/// the message of an exception.
///
/// @return the exit code: 0 for success, 1 for a failure, 2 for an invalid command line.
int runProgram(int argc, char** argv, CommandLine& line, const std::function<void()>& run);

}  // namespace example
