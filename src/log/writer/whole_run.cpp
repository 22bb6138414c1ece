// SPDX-License-Identifier: Apache-2.0
#include "log/writer/whole_run.h"

#include <algorithm>
#include <system_error>
#include <utility>
#include <variant>

#include "steptape/base/clock.h"
#include "steptape/base/status.h"

#include "base/directory_entries.h"
#include "base/text.h"
#include "events/framing/event_file_name.h"
#include "log/writer/call_site.h"
#include "log/writer/event_file.h"
#include "log/writer/file_head.h"
#include "log/writer/run_checks.h"

namespace steptape::detail::log {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWriteBytes = std::size_t{1} << 20;

/// Returns the directories that are missing for `directory`, the deepest first.
std::vector<fs::path> missing(const std::string& directory) {
  std::vector<fs::path> paths;
  std::error_code error;
  fs::path path = fs::absolute(directory, error).lexically_normal();
  path = path.has_filename() ? path : path.parent_path();
  while (!error && fs::status(path, error).type() == fs::file_type::not_found) {
    error.clear();  // status() says so by an error as well
    paths.push_back(path);
    path = path.parent_path();
  }
  return paths;
}

}  // namespace

WholeRun::WholeRun(std::string directory, std::string call)
    : directory_(std::move(directory)), call_(std::move(call)) {
  checkIsPath(directory_, call_ + ": directory", ", from which 'steptape sync' sends it");
  checkPlace();
}

WholeRun::~WholeRun() {
  file_.reset();
  if (!hasAppeared_) {
    for (const fs::path& path : made_) {
      std::error_code notEmpty;
      fs::remove(path, notEmpty);
    }
  }
}

void WholeRun::checkPlace() const {
  std::vector<base::DirectoryEntry> entries;
  static_cast<void>(base::listDirectory(directory_, &entries));  // there may be none yet
  const auto files = std::count_if(entries.begin(), entries.end(), [](const auto& entry) {
    return !entry.isDirectory && events::isRunFileName(entry.name);
  });
  if (files > 0) {
    throw Error(ErrorCode::kFailedPrecondition,
                call_ + ": " + directory_ + " holds " +
                    base::counted(static_cast<std::size_t>(files), "event file") +
                    "; expected a directory without any");
  }
}

void WholeRun::open() {
  if (file_) {
    return;
  }
  made_ = missing(directory_);
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) {
    throw Error(ErrorCode::kIoError,
                "cannot create the directory " + directory_ + ": " + error.message());
  }
  const double now = Clock::system().wallSeconds();
  file_.emplace(directory_ + "/" + nextEventFileName({}, now, ""));
  file_->open().throwIfError();
  file_->write(fileHead(now, 0));
}

void WholeRun::write() {
  file_->write(pending_.bytes());
  file_->status().throwIfError();
  pending_.clear();
}

void WholeRun::add(event::Event event) {
  CallSite(call_).run([&] { checkWallTime(event.wallTime); });
  open();
  if (auto* const summary = std::get_if<event::Summary>(&event.what)) {
    descriptions_.addOnce(summary);
  }
  appendRecord(event, &pending_);
  if (pending_.bytes().size() >= kWriteBytes) {
    write();
  }
}

void WholeRun::finish() {
  open();
  write();
  file_->finish().throwIfError();
}

void WholeRun::appear() {
  checkPlace();
  file_->appear(/*overwrite=*/false).throwIfError();
  hasAppeared_ = true;
}

}  // namespace steptape::detail::log
