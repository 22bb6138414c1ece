// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/launch.h"

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "steptape/base/status.h"

#include "base/got_expected.h"
#include "base/text.h"

namespace steptape::detail::ranks {
namespace {

using Variables = process::VariableLookup;

std::string textOf(const Variables& variable, const char* name) {
  const char* const text = variable(name);
  return text == nullptr ? "" : text;
}

/// Returns the number in a variable.
/// @throws Error(kInvalidArgument) unless it is a number from `least` to `most`.
int numberOf(const Variables& variable, const char* name, int least, int most,
             const std::string& why = "") {
  const std::string text = textOf(variable, name);
  char* end = nullptr;
  const long number = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || number < least || number > most) {
    throw Error(ErrorCode::kInvalidArgument,
                base::gotExpected("the environment variable " + std::string(name) + "=" + text,
                                  "a number from " + std::to_string(least) + " to " +
                                      std::to_string(most) + why));
  }
  return static_cast<int>(number);
}

constexpr int kMostRanks = 1 << 24;

/// A rank and the number of ranks, from two variables.
struct Numbers {
  std::string rankName;
  int rank = 0;
  int size = 1;
};

Numbers numbersOf(const Variables& variable, const char* rankName, const char* sizeName) {
  Numbers numbers;
  numbers.rankName = rankName;
  numbers.size = numberOf(variable, sizeName, 1, kMostRanks);
  numbers.rank =
      numberOf(variable, rankName, 0, numbers.size - 1,
               ", since " + std::string(sizeName) + " is " + std::to_string(numbers.size));
  return numbers;
}

bool hasAll(const Variables& variable, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    if (textOf(variable, name).empty()) {
      return false;
    }
  }
  return true;
}

/// Libraries that the same launchers start.
enum class MpiFamily { kOpenMpi, kMpich, kUnknown };

/// What a launcher tells every process of a job.
struct LauncherVariables {
  MpiFamily family;      ///< Whose libraries read them.
  const char* launcher;  ///< For messages.
  const char* rank;
  const char* size;
  bool isStep;  ///< Whether the size is of a step of Slurm, in which MPI's launchers may run.
};

/// Those nearer to the program come first: a step of Slurm may hold a launcher.
/// @source The launchers of Open MPI 4.1.4 and 5.0.11, MPICH 4.0.2 and 5.0.2, Intel MPI 2021.19,
///         and srun of Slurm 22.05.8, run with programs that print their environment
constexpr LauncherVariables kLaunchers[] = {
    {MpiFamily::kOpenMpi, "Open MPI's mpiexec", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     false},
    {MpiFamily::kMpich, "MVAPICH's launcher", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", false},
    {MpiFamily::kMpich, "an mpiexec of MPICH's family or srun --mpi=pmi2", "PMI_RANK", "PMI_SIZE",
     false},
    {MpiFamily::kOpenMpi, "srun --mpi=pmix", "PMIX_RANK", "SLURM_STEP_NUM_TASKS", true},
    {MpiFamily::kUnknown, "srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", true},
};

/// Returns the ranks of an MPI launcher. PMIx tells the rank alone; MPI itself knows the size.
std::optional<Numbers> mpiNumbers(const Variables& variable) {
  for (const LauncherVariables& each : kLaunchers) {
    if (!each.isStep && hasAll(variable, {each.rank, each.size})) {
      return numbersOf(variable, each.rank, each.size);
    }
  }
  if (hasAll(variable, {"PMIX_RANK"})) {
    Numbers numbers;
    numbers.rankName = "PMIX_RANK";
    numbers.rank = numberOf(variable, "PMIX_RANK", 0, kMostRanks);
    numbers.size = 0;  // unknown
    return numbers;
  }
  return std::nullopt;
}

std::string nameOfStoreLauncher(const Variables& variable) {
  return hasAll(variable, {"TORCHELASTIC_RUN_ID"}) ? "torchrun" : "RANK and MASTER_ADDR";
}

constexpr int kMostPort = 65535;

void takeAddress(const Variables& variable, Launch& launch) {
  launch.host = textOf(variable, "MASTER_ADDR");
  launch.port = numberOf(variable, "MASTER_PORT", 1, kMostPort);
}

/// Returns the launch that the four variables of torchrun describe.
/// @throws Error(kFailedPrecondition) if only some are set.
Launch storeLaunch(const Variables& variable) {
  std::string missing;
  std::string present;
  for (const char* const name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
    std::string& list = hasAll(variable, {name}) ? present : missing;
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  if (!missing.empty()) {
    throw Error(ErrorCode::kFailedPrecondition,
                "the environment tells only a part of a launch: " + present +
                    (present.find(',') == std::string::npos ? " is" : " are") + " set, and " +
                    missing + (missing.find(',') == std::string::npos ? " is" : " are") +
                    " not. Set all of them, as torchrun does, or none. "
                    "STEPTAPE_LAUNCHER=none runs this process alone");
  }
  Launch launch;
  launch.kind = LaunchKind::kStore;
  launch.launcher = nameOfStoreLauncher(variable);
  const Numbers numbers = numbersOf(variable, "RANK", "WORLD_SIZE");
  launch.rank = numbers.rank;
  launch.size = numbers.size;
  launch.job = process::JobIdentity::ofThisProcess(variable);
  launch.job.step.clear();  // launchers of one job may each be in a step of their own
  takeAddress(variable, launch);
  launch.isServedByAgent = textOf(variable, "TORCHELASTIC_USE_AGENT_STORE") == "True";
  return launch;
}

/// Returns the ports that a step tries in turn: below the usual ranges for outgoing connections,
/// and the first one different for neighboring jobs and steps.
std::vector<int> portsOfJob(const Variables& variable) {
  constexpr int kFirst = 20000;
  constexpr int kCount = 10000;
  constexpr int kMostNumber = 1 << 30;
  const int job = numberOf(variable, "SLURM_JOB_ID", 0, kMostNumber);
  const int step =
      hasAll(variable, {"SLURM_STEP_ID"}) ? numberOf(variable, "SLURM_STEP_ID", 0, kMostNumber) : 0;
  constexpr int kStepsApart = 7;  // of neighboring jobs
  const std::int64_t number = std::int64_t{job} * kStepsApart + step;
  constexpr int kTries = 8;
  constexpr int kPortsApart = 1009;  // so that ports of neighboring jobs are not tried in turn
  std::vector<int> ports;
  for (int i = 0; i < kTries; ++i) {
    ports.push_back(kFirst + static_cast<int>((number + std::int64_t{i} * kPortsApart) % kCount));
  }
  return ports;
}

Launch srunLaunch(const Variables& variable) {
  Launch launch;
  launch.kind = LaunchKind::kStore;
  launch.launcher = "srun";
  const Numbers numbers = numbersOf(variable, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS");
  launch.rank = numbers.rank;
  launch.size = numbers.size;
  launch.job = process::JobIdentity::ofThisProcess(variable);
  if (hasAll(variable, {"MASTER_ADDR", "MASTER_PORT"})) {
    takeAddress(variable, launch);
    return launch;
  }
  const std::string list = hasAll(variable, {"SLURM_STEP_NODELIST"})
                               ? textOf(variable, "SLURM_STEP_NODELIST")
                               : textOf(variable, "SLURM_JOB_NODELIST");
  launch.host =
      hasAll(variable, {"MASTER_ADDR"}) ? textOf(variable, "MASTER_ADDR") : firstHostOf(list);
  if (launch.host.empty() && launch.size > 1) {
    throw Error(ErrorCode::kFailedPrecondition,
                "srun has started this process, and neither MASTER_ADDR nor SLURM_STEP_NODELIST "
                "tells where rank 0 is; expected one of them");
  }
  if (hasAll(variable, {"MASTER_PORT"})) {
    launch.port = numberOf(variable, "MASTER_PORT", 1, kMostPort);
  } else if (launch.size > 1) {
    launch.otherPorts = portsOfJob(variable);
    launch.port = launch.otherPorts.front();
    launch.otherPorts.erase(launch.otherPorts.begin());
  }
  return launch;
}

Launch mpiLaunch(const Variables& variable) {
  Launch launch;
  launch.kind = LaunchKind::kMpi;
  launch.launcher = "MPI's launcher";
  if (const std::optional<Numbers> numbers = mpiNumbers(variable)) {
    launch.rank = numbers->rank;
    launch.size = numbers->size;
  }
  return launch;
}

bool hasStoreVariable(const Variables& variable) {
  for (const char* const name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
    if (hasAll(variable, {name})) {
      return true;
    }
  }
  return false;
}

bool isStartedBySrun(const Variables& variable) {
  return hasAll(variable, {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"});
}

/// Chooses between MPI's launcher and the variables of torchrun, which are both there.
Launch chooseOfTwo(const Variables& variable, const Numbers& ofMpi) {
  Launch ofStore = storeLaunch(variable);
  // One launcher may start the agents of the other: then MPI's numbers are those of the agents.
  const bool startedAgents = hasAll(variable, {"TORCHELASTIC_RUN_ID", "GROUP_RANK"}) &&
                             numberOf(variable, "GROUP_RANK", 0, kMostRanks) == ofMpi.rank;
  if (startedAgents) {
    return ofStore;
  }
  if (ofStore.rank == ofMpi.rank && (ofMpi.size == 0 || ofStore.size == ofMpi.size)) {
    return mpiLaunch(variable);
  }
  throw Error(ErrorCode::kFailedPrecondition,
              "two launchers have started this process: " + ofMpi.rankName + " is " +
                  std::to_string(ofMpi.rank) + " and " + ofStore.launcher + " says rank " +
                  std::to_string(ofStore.rank) + " of " + std::to_string(ofStore.size) +
                  "; set STEPTAPE_LAUNCHER to mpi or torchrun");
}

Launch chosenLaunch(const std::string& choice, const Variables& variable) {
  if (choice == "none") {
    return {};
  }
  if (choice == "mpi") {
    return mpiLaunch(variable);
  }
  if (choice == "torchrun") {
    return storeLaunch(variable);
  }
  if (choice == "srun") {
    return srunLaunch(variable);
  }
  throw Error(ErrorCode::kInvalidArgument,
              base::gotExpected("the environment variable STEPTAPE_LAUNCHER=" + choice,
                                "mpi, torchrun, srun or none"));
}

MpiFamily familyOf(const std::string& library) {
  if (base::contains(library, "Open MPI")) {
    return MpiFamily::kOpenMpi;
  }
  for (const char* const name : {"MPICH", "Intel(R) MPI", "MVAPICH"}) {
    if (base::contains(library, name)) {
      return MpiFamily::kMpich;
    }
  }
  return MpiFamily::kUnknown;
}

const LauncherVariables* launcherOf(const Variables& variable, MpiFamily family, bool isOwn) {
  for (const LauncherVariables& each : kLaunchers) {
    if (hasAll(variable, {each.rank, each.size}) && (each.family == family) == isOwn) {
      return &each;
    }
  }
  return nullptr;
}

const char* launchersFor(MpiFamily family) {
  switch (family) {
    case MpiFamily::kOpenMpi:
      return "its own mpiexec, or srun --mpi=pmix";
    case MpiFamily::kMpich:
      return "its own mpiexec, or srun --mpi=pmi2";
    case MpiFamily::kUnknown:
      break;
  }
  return "its own launcher";
}

}  // namespace

std::string nameOfMpiLibrary(const std::string& version) {
  // Open MPI adds where it was built, after a comma; MPICH a table, after a line break.
  std::string name;
  for (const char c : version.substr(0, version.find_first_of(",\n"))) {
    const bool isSpace = c == ' ' || c == '\t';
    if (!isSpace || (!name.empty() && name.back() != ' ')) {
      name += isSpace ? ' ' : c;
    }
  }
  constexpr std::string_view kWord = " Version:";  // of MPICH, between spaces
  if (const std::size_t at = name.find(kWord); at != std::string::npos) {
    name.erase(at, kWord.size());
  }
  return name;
}

std::string foreignLauncherBecause(const MpiWorld& world, const Variables& variable) {
  if (textOf(variable, "STEPTAPE_LAUNCHER") == "none") {
    return "";
  }
  const MpiFamily family = familyOf(world.mpiVersion);
  const LauncherVariables* launcher = launcherOf(variable, family, /*isOwn=*/true);
  if (launcher == nullptr) {
    launcher = launcherOf(variable, family, /*isOwn=*/false);
  }
  if (launcher == nullptr) {
    return "";
  }
  const Numbers numbers = numbersOf(variable, launcher->rank, launcher->size);
  if (world.size >= numbers.size) {
    return "";
  }
  const std::string size = std::to_string(numbers.size);
  return base::gotExpected("rank " + std::to_string(numbers.rank) + " of " + size + " of " +
                               launcher->launcher + " (" + launcher->size + "=" + size +
                               "), and a world of " + std::to_string(world.size) +
                               (world.size == 1 ? " rank of " : " ranks of ") +
                               nameOfMpiLibrary(world.mpiVersion) + ", the MPI of this program",
                           std::string(launchersFor(family)) +
                               ". STEPTAPE_LAUNCHER=none makes each process a job of its own");
}

std::string foreignLauncherBecause(const MpiWorld& world) {
  return foreignLauncherBecause(world, process::variableOfProcess);
}

std::string aloneInAllocation(const Variables& variable) {
  if (!textOf(variable, "STEPTAPE_LAUNCHER").empty() || mpiNumbers(variable) ||
      hasStoreVariable(variable) || isStartedBySrun(variable) ||
      !hasAll(variable, {"SLURM_JOB_ID", "SLURM_NTASKS"})) {
    return "";
  }
  const int tasks = numberOf(variable, "SLURM_NTASKS", 1, kMostRanks);
  if (tasks == 1) {
    return "";
  }
  return "job " + textOf(variable, "SLURM_JOB_ID") + " of Slurm is for " + std::to_string(tasks) +
         " tasks, and this process runs alone: srun or mpiexec starts the others. "
         "STEPTAPE_LAUNCHER=none says that it is meant so";
}

void warnIfAloneInAllocation() {
  if (const std::string text = aloneInAllocation(process::variableOfProcess); !text.empty()) {
    std::fprintf(stderr, "steptape: %s\n", text.c_str());
  }
}

std::string missingPmixNote(const std::string& library, const Variables& variable) {
  const bool speaksPmix =
      hasAll(variable, {"PMIX_RANK"}) || hasAll(variable, {"OMPI_COMM_WORLD_SIZE"});
  if (familyOf(library) != MpiFamily::kOpenMpi || !isStartedBySrun(variable) || speaksPmix ||
      textOf(variable, "SLURM_PROCID") != "0" || !textOf(variable, "STEPTAPE_LAUNCHER").empty()) {
    return "";
  }
  const std::string plugin = textOf(variable, "SLURM_MPI_TYPE");
  return nameOfMpiLibrary(library) + " under srun" + (plugin.empty() ? "" : " --mpi=" + plugin) +
         ": if MPI_Init() ends this job, start it by srun --mpi=pmix, or, with steptape::c10d, set "
         "STEPTAPE_LAUNCHER=srun";
}

void noteIfPmixIsMissing(const std::string& library) {
  if (const std::string text = missingPmixNote(library, process::variableOfProcess);
      !text.empty()) {
    std::fprintf(stderr, "steptape: %s\n", text.c_str());
  }
}

std::string firstHostOf(const std::string& nodeList) {
  std::string host;
  for (std::size_t i = 0; i < nodeList.size(); ++i) {
    if (nodeList[i] == ',') {
      break;
    }
    if (nodeList[i] != '[') {
      host += nodeList[i];
      continue;
    }
    const std::size_t end = nodeList.find_first_of("-,]", i + 1);
    const std::size_t close = nodeList.find(']', i + 1);
    if (close == std::string::npos) {
      return "";
    }
    host += nodeList.substr(i + 1, end - i - 1);
    i = close;
  }
  return host;
}

Launch findLaunch(const LaunchSupport& support, const Variables& variable) {
  if (const std::string choice = textOf(variable, "STEPTAPE_LAUNCHER"); !choice.empty()) {
    return chosenLaunch(choice, variable);
  }
  const std::optional<Numbers> ofMpi = mpiNumbers(variable);
  const bool isStore = hasAll(variable, {"RANK", "WORLD_SIZE"}) ||
                       (hasStoreVariable(variable) && !ofMpi && !isStartedBySrun(variable));
  if (ofMpi && support.hasMpi) {
    return isStore && support.hasStore ? chooseOfTwo(variable, *ofMpi) : mpiLaunch(variable);
  }
  if (isStore) {
    return storeLaunch(variable);
  }
  // Last: the variables of a step are also in the environment of the launchers that it starts.
  if (isStartedBySrun(variable)) {
    return srunLaunch(variable);
  }
  return ofMpi ? mpiLaunch(variable) : Launch();
}

Launch findLaunch(const LaunchSupport& support) {
  return findLaunch(support, process::variableOfProcess);
}

}  // namespace steptape::detail::ranks
