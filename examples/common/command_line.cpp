// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>
#include <utility>

namespace example {
namespace {

constexpr std::size_t kMeaningColumn = 26;

std::string shortest(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

[[noreturn]] void refuse(const std::string& what, const std::string& got,
                         const std::string& expected) {
  throw UsageError(what + ": got '" + got + "'; expected " + expected);
}

double number(const std::string& what, const std::string& text, double least) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= least)) {  // Also rejects NaN.
    refuse(what, text, "a number of at least " + shortest(least));
  }
  return value;
}

}  // namespace

std::int64_t wholeNumber(const std::string& what, const std::string& text, std::int64_t least) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < least) {
    refuse(what, text, "a whole number of at least " + std::to_string(least));
  }
  return value;
}

std::vector<std::string> splitList(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) {
      parts.push_back(part);
    }
  }
  return parts;
}

void CommandLine::add(std::string name, std::string& value, std::string placeholder,
                      std::string meaning) {
  options_.push_back({std::move(name), std::move(placeholder), std::move(meaning), value,
                      [&value](const std::string& text) { value = text; }});
}

void CommandLine::add(std::string name, std::int64_t& value, std::string placeholder,
                      std::string meaning, std::int64_t least) {
  const std::string what = "--" + name;
  options_.push_back(
      {std::move(name), std::move(placeholder), std::move(meaning), std::to_string(value),
       [&value, what, least](const std::string& text) { value = wholeNumber(what, text, least); }});
}

void CommandLine::add(std::string name, double& value, std::string placeholder, std::string meaning,
                      double least) {
  const std::string what = "--" + name;
  options_.push_back(
      {std::move(name), std::move(placeholder), std::move(meaning), shortest(value),
       [&value, what, least](const std::string& text) { value = number(what, text, least); }});
}

void CommandLine::add(std::string name, bool& value, std::string meaning) {
  options_.push_back({std::move(name), "", std::move(meaning), "",
                      [&value](const std::string&) { value = true; }});
}

bool CommandLine::parse(int argc, const char* const* argv) {
  for (int next = 1; next < argc;) {
    const std::string argument = argv[next++];
    if (argument == "--help" || argument == "-h") {
      return false;
    }
    const bool isOption = argument.size() > 2 && argument.compare(0, 2, "--") == 0;
    if (isOption) {
      take(argument.substr(2), argc, argv, next);
      continue;
    }
    if (rest_ == nullptr) {
      throw UsageError("got argument '" + argument + "'; expected an option");
    }
    rest_->assign(argv + (argument == "--" ? next : next - 1), argv + argc);
    break;
  }
  return true;
}

void CommandLine::take(const std::string& argument, int argc, const char* const* argv, int& next) {
  const std::size_t equals = argument.find('=');
  const Option& option = find(argument.substr(0, equals));
  if (option.placeholder.empty()) {
    if (equals != std::string::npos) {
      throw UsageError("--" + option.name + ": got a value; expected none");
    }
    option.set("");
  } else if (equals != std::string::npos) {
    option.set(argument.substr(equals + 1));
  } else if (next < argc) {
    option.set(argv[next++]);
  } else {
    throw UsageError("--" + option.name + ": got no value; expected " + option.placeholder);
  }
}

const CommandLine::Option& CommandLine::find(const std::string& name) const {
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const Option& option) { return option.name == name; });
  if (found == options_.end()) {
    throw UsageError("unknown option --" + name);
  }
  return *found;
}

std::string CommandLine::help() const {
  std::string text = summary_ + "\n";
  const auto appendLine = [&text](std::string line, const std::string& meaning) {
    line.resize(std::max(line.size() + 1, kMeaningColumn), ' ');
    text += line + meaning + "\n";
  };
  for (const Option& option : options_) {
    const std::string value = option.placeholder.empty() ? "" : " " + option.placeholder;
    const std::string byDefault =
        option.defaultText.empty() ? "" : "  [" + option.defaultText + "]";
    appendLine("  --" + option.name + value, option.meaning + byDefault);
  }
  appendLine("  --help", "print this help");
  return text;
}

std::string programName(const char* path) {
  const std::string text = path;
  return text.substr(text.rfind('/') + 1);
}

int runProgram(int argc, char** argv, CommandLine& line, const std::function<void()>& run) {
  const std::string program = programName(argv[0]);
  try {
    if (line.parse(argc, argv)) {
      run();
    } else {
      std::cout << line.help();
    }
    return 0;
  } catch (const UsageError& error) {
    std::cerr << program << ": " << error.what() << "; see --help\n";
    return kExitUsage;
  } catch (const std::exception& error) {
    std::cerr << program << ": " << error.what() << "\n";
    return kExitFailure;
  }
}

}  // namespace example
