// SPDX-License-Identifier: Apache-2.0
#include "steptape/log/rewrite.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <forward_list>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "steptape/base/status.h"

#include "log/rewrite/prepare_rewrite.h"
#include "log/writer/whole_run.h"
#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/runs/log_paths.h"
#include "tools/steptape/runs/name_filter.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/json_pieces.h"
#include "tools/steptape/terminal/progress.h"
#include "tools/steptape/terminal/screen_text.h"
#include "tools/steptape/terminal/standard_streams.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

struct RewriteArguments {
  std::vector<std::string> paths;
  NameFilter filter;
  std::string output;
  std::vector<std::pair<std::string, std::string>> renames;  // expression, replacement
  std::vector<NamePattern> dropped;
  RewriteOptions options;
  bool json = false;
};

/// The new names of tags, and which patterns have found one.
class TagNames {
 public:
  /// @throws CLI::ValidationError
  explicit TagNames(const RewriteArguments& arguments);

  /// @return nothing for a tag that is left out.
  /// @throws Error(kInvalidArgument) for a tag in which --rename cannot be searched.
  std::optional<std::string> newNameOf(const std::string& tag);

  /// Notes each pattern that no tag matches: it may be mistyped.
  /// @throws Error(kIoError) if --tag selects nothing, or if nothing matches any of the others.
  void checkUse() const;

 private:
  struct Use {
    std::string text;  // "--drop: got ..."
    bool isFound = false;
  };

  const RewriteArguments& arguments_;
  std::vector<std::regex> expressions_;
  std::vector<Use> renames_;
  std::vector<Use> dropped_;
  bool hasTag_ = false;  // one that --tag selects
};

TagNames::TagNames(const RewriteArguments& arguments) : arguments_(arguments) {
  for (const auto& [expression, replacement] : arguments.renames) {
    try {
      expressions_.emplace_back(expression, std::regex::ECMAScript);
    } catch (const std::regex_error&) {
      throw CLI::ValidationError(
          "--rename",
          fmt::format("got \"{}\"; expected a regular expression (ECMAScript)", expression));
    }
    renames_.push_back({fmt::format("--rename: got \"{}\"", expression)});
  }
  for (const NamePattern& pattern : arguments.dropped) {
    dropped_.push_back({fmt::format("--drop: got \"{}\"", pattern.text())});
  }
}

std::optional<std::string> TagNames::newNameOf(const std::string& tag) {
  if (!arguments_.filter.tag.isFoundIn(tag)) {
    return std::nullopt;
  }
  hasTag_ = true;
  bool isDropped = false;
  for (std::size_t i = 0; i < dropped_.size(); ++i) {
    const bool isFound = arguments_.dropped[i].isFoundIn(tag);
    dropped_[i].isFound = dropped_[i].isFound || isFound;
    isDropped = isDropped || isFound;
  }
  if (isDropped) {
    return std::nullopt;
  }
  std::string name = tag;
  for (std::size_t i = 0; i < expressions_.size(); ++i) {
    if (name.size() > kSearchedBytes) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("--rename: got a tag of {} bytes, {}...; expected at most {}; --drop "
                              "leaves it out",
                              name.size(), name.substr(0, 40), kSearchedBytes));
    }
    renames_[i].isFound = renames_[i].isFound || std::regex_search(name, expressions_[i]);
    name = std::regex_replace(name, expressions_[i], arguments_.renames[i].second);
  }
  return name;
}

void TagNames::checkUse() const {
  constexpr const char* kExpected = "; expected a match in a tag";
  constexpr const char* kAdvice = "; 'steptape inspect' lists all tags";
  const std::string& selected = arguments_.filter.tag.text();
  if (!hasTag_ && !selected.empty()) {
    throw Error(ErrorCode::kIoError,
                fmt::format("--tag: got \"{}\"{}{}", selected, kExpected, kAdvice));
  }
  std::vector<std::string> unused;
  for (const std::vector<Use>* const uses : {&renames_, &dropped_}) {
    for (const Use& use : *uses) {
      if (!use.isFound) {
        unused.push_back(use.text + kExpected);
      }
    }
  }
  if (!unused.empty() && unused.size() == renames_.size() + dropped_.size()) {
    throw Error(ErrorCode::kIoError, unused.front() + kAdvice);
  }
  printNotes(unused);
}

/// Returns the path at or below which a run was found.
std::filesystem::path rootOf(const RunFiles& run) {
  std::error_code error;
  std::filesystem::path root = std::filesystem::absolute(run.directory, error).lexically_normal();
  root = root.has_filename() ? root : root.parent_path();
  const std::filesystem::path name = run.name == "." ? "" : run.name;
  for (auto each = name.begin(); each != name.end(); ++each) {
    root = root.parent_path();
  }
  return root;
}

/// Returns the directory of each new run: by its name below its path or, if there are several
/// paths, by the last name of that path as well.
///
/// @param all The runs of all paths, of which `runs` are selected.
/// @throws CLI::ValidationError if two would have one.
std::vector<std::string> outputsOf(const std::vector<RunFiles>& runs,
                                   const std::vector<RunFiles>& all, const std::string& output) {
  std::set<std::filesystem::path> roots;
  for (const RunFiles& run : all) {
    roots.insert(rootOf(run));
  }
  std::vector<std::string> outputs;
  std::map<std::string, std::string> owners;
  for (const RunFiles& run : runs) {
    std::filesystem::path directory = output;
    if (runs.size() > 1) {
      directory /= roots.size() > 1 ? rootOf(run).filename() : "";
      directory /= run.name == "." ? "" : run.name;
    }
    std::string text = directory.string();
    text.resize(text.size() > 1 && text.back() == '/' ? text.size() - 1 : text.size());
    const auto [owner, isNew] = owners.emplace(text, run.directory);
    if (!isNew) {
      throw CLI::ValidationError(
          "PATH", fmt::format("got {} and {}, which both become {}; expected runs of different "
                              "names",
                              owner->second, run.directory, text));
    }
    outputs.push_back(std::move(text));
  }
  return outputs;
}

std::string textOf(const std::string& output, const RewriteResult& result,
                   const Terminal& terminal) {
  std::string text = fmt::format("{}: {} written, {} left out\n", shown(output, terminal),
                                 counted(result.values, "value"), result.valuesLeftOut);
  for (const RewrittenTag& tag : result.tags) {
    if (tag.newName.empty()) {
      text += fmt::format("  left out: {}\n", shown(tag.tag, terminal));
    } else if (tag.newName != tag.tag) {
      text +=
          fmt::format("  {} is now {}\n", shown(tag.tag, terminal), shown(tag.newName, terminal));
    }
  }
  return text;
}

std::string jsonOf(const std::string& run, const std::string& output, const RewriteResult& result) {
  std::vector<std::string> tags;
  for (const RewrittenTag& tag : result.tags) {
    tags.push_back(JsonObject()
                       .add("tag", jsonString(tag.tag))
                       .add("new_name", tag.newName.empty() ? "null" : jsonString(tag.newName))
                       .add("values", jsonInteger(tag.values))
                       .toString());
  }
  return JsonObject()
      .add("run", jsonString(run))
      .add("output", jsonString(output))
      .add("values", jsonInteger(result.values))
      .add("values_left_out", jsonInteger(result.valuesLeftOut))
      .add("tags", jsonArray(tags))
      .toString();
}

void print(const RewriteArguments& arguments, const std::vector<RunFiles>& runs,
           const std::vector<detail::log::WholeRun*>& outputs,
           const std::vector<RewriteResult>& results) {
  const Terminal terminal = terminalAt(STDOUT_FILENO);
  std::vector<std::string> json;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string& output = outputs[i]->directory();
    if (arguments.json) {
      json.push_back(jsonOf(runs[i].directory, output, results[i]));
    } else {
      fmt::print("{}", textOf(output, results[i], terminal));
    }
  }
  if (arguments.json) {
    fmt::print("{}\n", JsonObject().add("runs", jsonArray(json)).toString());
  }
  flushOutput();
}

int rewrite(const RewriteArguments& arguments) {
  TagNames names(arguments);
  std::vector<Damage> unreadable;
  const std::vector<RunFiles> all = runsOf(arguments.paths, &unreadable);
  const std::vector<RunFiles> runs = selectRuns(all, arguments.filter.run);
  int exitCode = reportProblems(unreadable);
  // All of them appear, or none. The last one is in front, since it may be in a directory that was
  // made for an earlier one.
  std::forward_list<detail::log::WholeRun> outputs;
  std::vector<detail::log::WholeRun*> outputOf;
  for (const std::string& directory : outputsOf(runs, all, arguments.output)) {
    outputOf.push_back(&outputs.emplace_front(directory, "rewrite"));
  }
  Progress progress("rewriting", 2 * totalBytes(runs));  // everything is read twice
  std::vector<RewriteResult> results;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    RewriteOptions options = arguments.options;
    options.rename = [&](const std::string& tag) { return names.newNameOf(tag); };
    options.onProgress = progress.part();
    results.push_back(detail::log::prepareRewrite(runs[i], options, outputOf[i]));
  }
  progress.clear();
  names.checkUse();
  for (detail::log::WholeRun* const output : outputOf) {
    output->appear();
  }
  print(arguments, runs, outputOf, results);
  for (const RewriteResult& result : results) {
    exitCode = std::max(exitCode, reportProblems(result.damage));
  }
  return exitCode;
}

}  // namespace

void addRewriteCommand(CLI::App* app, int* exitCode) {
  CLI::App* command = app->add_subcommand("rewrite", "Write runs anew with other tags or steps");
  const auto arguments = std::make_shared<RewriteArguments>();
  addPathsArgument(command, &arguments->paths);
  command->add_option("--output", arguments->output, "Directory of the new run")
      ->required()
      ->type_name("DIR");
  command
      ->add_option("--rename", arguments->renames,
                   "Replaces what a regular expression matches in each tag; $1 is its first group")
      ->type_name("RE TEXT")
      ->allow_extra_args(false);
  command
      ->add_option_function<std::vector<std::string>>(
          "--drop",
          [arguments](const std::vector<std::string>& patterns) {
            for (const std::string& pattern : patterns) {
              try {
                arguments->dropped.emplace_back(pattern);
              } catch (const std::regex_error&) {
                throw CLI::ValidationError(
                    "--drop",
                    fmt::format("got \"{}\"; expected a regular expression (ECMAScript)", pattern));
              }
            }
          },
          "Leaves out tags that contain a match")
      ->type_name("RE")
      ->allow_extra_args(false);
  addFilterOptions(command, &arguments->filter);
  command->add_option("--shift-steps", arguments->options.stepShift, "Added to each step")
      ->type_name("STEPS")
      ->capture_default_str();
  command->add_option("--from", arguments->options.fromStep, "Only this step and later ones")
      ->type_name("STEP");
  command->add_option("--to", arguments->options.toStep, "Only this step and earlier ones")
      ->type_name("STEP");
  command->add_flag("--json", arguments->json, "Print JSON for programs");
  command->footer(
      "The original does not change. Several runs are written below --output, each by its name. "
      "All appear once they are whole, or none. Points that a restart overwrote are not written.\n"
      "\n"
      "Examples:\n"
      "  steptape rewrite runs/a --output runs/b --rename '^Loss/' loss/ --drop '^debug'\n"
      "  steptape rewrite runs/second --output runs/joined --shift-steps 10000\n"
      "  steptape rewrite runs --output short --tag '^loss' --to 1000");
  command->callback([arguments, exitCode] { *exitCode = rewrite(*arguments); });
}

}  // namespace steptape::tools
