// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/programs/parallel_programs.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <poll.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/steptape/programs/report_pipe.h"
#include "tools/steptape/programs/silent_program.h"

namespace steptape::tools {
namespace {

using SteadyTime = std::chrono::steady_clock;

/// So many programs run at the same time: each of srun asks the controller of the whole cluster.
constexpr std::size_t kProgramsAtOnce = 32;
constexpr int kPollMillis = 20;

std::string lastLineOf(const std::string& text) {
  const std::size_t end = text.find_last_not_of("\r\n");
  if (end == std::string::npos) {
    return "";
  }
  const std::size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? std::size_t{0} : begin + 1) + 1);
}

/// One program that runs.
class Running {
 public:
  explicit Running(const std::vector<std::string>& command)
      : process_(startWithPipes(command, output_.writeEnd, errors_.writeEnd)) {
    output_.closeWriteEnd();
    errors_.closeWriteEnd();
    for (const ReportPipe* pipe : {&output_, &errors_}) {
      ::fcntl(pipe->readEnd, F_SETFL, O_NONBLOCK);
    }
  }

  /// Reads what there is.
  /// @return whether the program has ended. What it has started may live on, with its pipes.
  bool hasEnded() {
    hasEnded_ = hasEnded_ || process_ < 0 || ::waitpid(process_, &status_, WNOHANG) == process_;
    isOutputOpen_ = isOutputOpen_ && readFrom(output_, &outputText_);
    areErrorsOpen_ = areErrorsOpen_ && readFrom(errors_, &errorText_);
    return hasEnded_;
  }

  void addTo(std::vector<pollfd>* waits) const {
    if (isOutputOpen_) {
      waits->push_back({output_.readEnd, POLLIN, 0});
    }
    if (areErrorsOpen_) {
      waits->push_back({errors_.readEnd, POLLIN, 0});
    }
  }

  /// Kills it if it still runs.
  ProgramEnd end(std::chrono::milliseconds limit) {
    ProgramEnd end;
    if (process_ < 0) {
      end.problem = "it could not be started";
      return end;
    }
    if (!hasEnded_) {
      ::kill(-process_, SIGKILL);
      while (::waitpid(process_, &status_, 0) < 0 && errno == EINTR) {
      }
      end.problem = fmt::format("no answer within {} s", limit.count() / 1000);
      return end;
    }
    end.exitCode = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
    end.output = std::move(outputText_);
    end.problem = lastLineOf(errorText_);
    return end;
  }

 private:
  static bool readFrom(const ReportPipe& pipe, std::string* text) {
    std::array<char, 65536> buffer{};
    for (;;) {
      const ssize_t got = ::read(pipe.readEnd, buffer.data(), buffer.size());
      if (got > 0) {
        text->append(buffer.data(), static_cast<std::size_t>(got));
      } else if (got == 0 || errno != EINTR) {
        return got < 0 && errno == EAGAIN;
      }
    }
  }

  ReportPipe output_;
  ReportPipe errors_;
  pid_t process_;
  int status_ = 0;
  bool hasEnded_ = false;
  bool isOutputOpen_ = true;
  bool areErrorsOpen_ = true;
  std::string outputText_;
  std::string errorText_;
};

}  // namespace

std::vector<ProgramEnd> runAll(const std::vector<std::vector<std::string>>& commands,
                               std::chrono::milliseconds limit) {
  struct Started {
    std::size_t index;
    SteadyTime::time_point deadline;
    std::unique_ptr<Running> program;
  };
  std::vector<ProgramEnd> ends(commands.size());
  std::vector<Started> running;
  std::size_t next = 0;
  while (next < commands.size() || !running.empty()) {
    for (; next < commands.size() && running.size() < kProgramsAtOnce; ++next) {
      running.push_back(
          {next, SteadyTime::now() + limit, std::make_unique<Running>(commands[next])});
    }
    std::vector<pollfd> waits;
    for (const Started& each : running) {
      each.program->addTo(&waits);
    }
    ::poll(waits.data(), waits.size(), kPollMillis);  // its end closes its pipes, mostly
    const SteadyTime::time_point now = SteadyTime::now();
    const auto isDone = [&](Started& each) {
      if (!each.program->hasEnded() && now < each.deadline) {
        return false;
      }
      ends[each.index] = each.program->end(limit);
      return true;
    };
    running.erase(std::remove_if(running.begin(), running.end(), isDone), running.end());
  }
  return ends;
}

}  // namespace steptape::tools
