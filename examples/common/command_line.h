// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace example {

/// A command line that cannot be understood; what() says why.
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
  /// @param summary What --help prints above the options.
  explicit CommandLine(std::string summary) : summary_(std::move(summary)) {}

  // Each names an option, the variable that it sets, which holds the default and outlives this
  // object, what stands for the value in --help, and what it means. Numbers have a least value.
  void add(std::string name, std::string& value, std::string placeholder, std::string meaning);
  void add(std::string name, std::int64_t& value, std::string placeholder, std::string meaning,
           std::int64_t least = 0);
  void add(std::string name, double& value, std::string placeholder, std::string meaning,
           double least = 0);
  void add(std::string name, bool& value, std::string meaning);

  /// Takes what follows the options, or a `--`. Without it, that is an error.
  void addRest(std::vector<std::string>& rest) { rest_ = &rest; }

  /// Sets the variables. @return false if --help was among the options.
  ///
  /// @throws UsageError
  bool parse(int argc, const char* const* argv);

  /// The summary and a line for each option, with its default.
  std::string help() const;

 private:
  struct Option {
    std::string name;
    std::string placeholder;  ///< Empty: takes no value.
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

/// The parts of "a,b,c"; none of "".
std::vector<std::string> splitList(const std::string& text, char separator = ',');

/// `text` as a whole number of at least `least`.
///
/// @throws UsageError that begins with `what`
std::int64_t wholeNumber(const std::string& what, const std::string& text, std::int64_t least);

}  // namespace example
