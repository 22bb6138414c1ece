// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/known_names.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "profile/trace/chrome/chrome_format.h"

namespace steptape::detail::profile {
namespace {

enum class Match {
  kStart,  ///< The name begins with the text.
  kWhole,  ///< The name is the text.
  kXlaOp,  ///< An instruction of XLA, such as "all-reduce", "all-reduce.7", "all-reduce-start.2".
};

struct KnownName {
  std::string_view text;
  Match match;
  NameMeaning meaning;
};

/// @source torch/csrc/distributed/c10d/ProcessGroup*.cpp (titles of works) and Ops.cpp,
///         torch/csrc/distributed/c10d/reducer.cpp, torch/optim/optimizer.py,
///         torch/utils/data/dataloader.py and datapipes/_hook_iterator.py of PyTorch 1.13 to 2.15;
///         oneccl_bindings_for_pytorch
constexpr std::array<KnownName, 20> kTorchNames{{
    {"gloo:", Match::kStart, NameMeaning::kCollective},
    {"nccl:", Match::kStart, NameMeaning::kCollective},
    {"mpi:", Match::kStart, NameMeaning::kCollective},
    {"ucc:", Match::kStart, NameMeaning::kCollective},
    {"xccl:", Match::kStart, NameMeaning::kCollective},
    {"c10d::", Match::kStart, NameMeaning::kCollective},
    {"_c10d_functional::", Match::kStart, NameMeaning::kCollective},
    {"c10d_functional::", Match::kStart, NameMeaning::kCollective},
    {"_c10d_functional_autograd::", Match::kStart, NameMeaning::kCollective},
    {"record_param_comms", Match::kWhole, NameMeaning::kCollective},
    {"oneccl_bindings_for_pytorch::", Match::kStart, NameMeaning::kCollective},
    {"torch_ccl::", Match::kStart, NameMeaning::kCollective},
    {"enumerate(DataLoader)#", Match::kStart, NameMeaning::kInput},
    {"enumerate(DataPipe)#", Match::kStart, NameMeaning::kInput},
    {"Optimizer.step", Match::kStart, NameMeaning::kOptimizer},
    {"Optimizer.zero_grad", Match::kStart, NameMeaning::kOptimizer},
    {"optimizer", Match::kStart, NameMeaning::kOptimizer},  // also Steptape's own zones
    // Autograd's own work around a backward node, and that of DistributedDataParallel.
    {"autograd::engine::", Match::kStart, NameMeaning::kBackward},
    {"torch::distributed::reducer::", Match::kStart, NameMeaning::kBackward},
    {"torch.distributed.ddp.reducer::", Match::kStart, NameMeaning::kBackward},
}};

/// XLA names instructions by their operation or by JAX's primitive, such as "psum_invariant.22".
///
/// @source xla/hlo/ir/hlo_opcode.h and xla/service/rendezvous.h of OpenXLA,
///         jax/_src/lax/parallel.py of JAX, tensorflow/core/ops of TensorFlow,
///         horovod/common/common.h of Horovod 0.28
constexpr std::array<KnownName, 45> kZoneNames{{
    {"all-reduce", Match::kXlaOp, NameMeaning::kCollective},
    {"all-gather", Match::kXlaOp, NameMeaning::kCollective},
    {"all-to-all", Match::kXlaOp, NameMeaning::kCollective},
    {"ragged-all-to-all", Match::kXlaOp, NameMeaning::kCollective},
    {"reduce-scatter", Match::kXlaOp, NameMeaning::kCollective},
    {"collective-permute", Match::kXlaOp, NameMeaning::kCollective},
    {"collective-broadcast", Match::kXlaOp, NameMeaning::kCollective},
    {"send-done", Match::kXlaOp, NameMeaning::kCollective},
    {"recv-done", Match::kXlaOp, NameMeaning::kCollective},
    {"psum", Match::kXlaOp, NameMeaning::kCollective},
    {"pmax", Match::kXlaOp, NameMeaning::kCollective},
    {"pmin", Match::kXlaOp, NameMeaning::kCollective},
    {"ppermute", Match::kXlaOp, NameMeaning::kCollective},
    {"pbroadcast", Match::kXlaOp, NameMeaning::kCollective},
    {"all_gather", Match::kXlaOp, NameMeaning::kCollective},
    {"all_to_all", Match::kXlaOp, NameMeaning::kCollective},
    {"ragged_all_to_all", Match::kXlaOp, NameMeaning::kCollective},
    {"reduce_scatter", Match::kXlaOp, NameMeaning::kCollective},
    {"Rendezvous", Match::kWhole, NameMeaning::kCollective},
    {"Wait: pending_threads=", Match::kStart, NameMeaning::kCollective},
    {"infeed", Match::kXlaOp, NameMeaning::kInput},
    {"InfeedEnqueue", Match::kStart, NameMeaning::kInput},
    {"Iterator::", Match::kStart, NameMeaning::kInput},
    {"IteratorGetNext", Match::kStart, NameMeaning::kInput},
    {"CollectiveReduce", Match::kStart, NameMeaning::kCollective},
    {"CollectiveGather", Match::kStart, NameMeaning::kCollective},
    {"CollectiveBcast", Match::kStart, NameMeaning::kCollective},
    {"CollectiveAllToAll", Match::kStart, NameMeaning::kCollective},
    {"NcclAllReduce", Match::kStart, NameMeaning::kCollective},
    {"NcclBroadcast", Match::kStart, NameMeaning::kCollective},
    {"NcclReduce", Match::kStart, NameMeaning::kCollective},
    {"CrossReplicaSum", Match::kStart, NameMeaning::kCollective},
    {"Horovod", Match::kStart, NameMeaning::kCollective},
    {"ResourceApply", Match::kStart, NameMeaning::kOptimizer},
    {"ResourceSparseApply", Match::kStart, NameMeaning::kOptimizer},
    {"gradient_tape/", Match::kStart, NameMeaning::kBackward},
    {"gradients/", Match::kStart, NameMeaning::kBackward},
    {"NEGOTIATE_", Match::kStart, NameMeaning::kWait},
    {"WAIT_FOR_OTHER_TENSOR_DATA", Match::kWhole, NameMeaning::kWait},
    {"ALLREDUCE", Match::kWhole, NameMeaning::kCollective},
    {"ADASUM", Match::kWhole, NameMeaning::kCollective},
    {"ALLGATHER", Match::kWhole, NameMeaning::kCollective},
    {"BROADCAST", Match::kWhole, NameMeaning::kCollective},
    {"ALLTOALL", Match::kWhole, NameMeaning::kCollective},
    {"REDUCESCATTER", Match::kWhole, NameMeaning::kCollective},
}};

/// Returns whether a name of XLA can end so. Names of its passes cannot, such as
/// "all-reduce-combiner".
bool endsInstruction(std::string_view rest) {
  for (const std::string_view variant : {"-start", "-done", "_invariant", "-fusion", "_fusion"}) {
    if (base::startsWith(rest, variant)) {
      rest.remove_prefix(variant.size());
      break;
    }
  }
  return rest.empty() || rest[0] == '.';  // and a number
}

bool matches(const KnownName& known, std::string_view name) {
  if (!base::startsWith(name, known.text)) {
    return false;
  }
  const std::string_view rest = name.substr(known.text.size());
  switch (known.match) {
    case Match::kStart:
      return true;
    case Match::kWhole:
      return rest.empty();
    case Match::kXlaOp:
      return endsInstruction(rest);
  }
  return false;
}

template <std::size_t kSize>
std::optional<NameMeaning> find(const std::array<KnownName, kSize>& table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const KnownName& known) { return matches(known, name); });
  return found == table.end() ? std::nullopt : std::optional(found->meaning);
}

/// Lightning names its hooks by what they do. Its optimizer's step contains the whole training
/// step.
///
/// @source lightning/pytorch/profilers/pytorch.py and loops of Lightning 1.9 to 2.6
std::optional<NameMeaning> meaningOfLightning(std::string_view name) {
  if (!base::startsWith(name, "[pl][profile]")) {
    return {};
  }
  if (base::endsWith(name, "_next")) {  // train_dataloader_next, val_next, test_next
    return NameMeaning::kInput;
  }
  if (base::endsWith(name, ".training_step")) {
    return NameMeaning::kForward;
  }
  return base::endsWith(name, ".backward") ? std::optional(NameMeaning::kBackward) : std::nullopt;
}

/// Returns "NCCL_ALLREDUCE" without the library that carries the data.
std::string_view withoutHorovodLibrary(std::string_view name) {
  for (const std::string_view library : {"NCCL_", "MPI_", "GLOO_", "CCL_"}) {
    if (base::startsWith(name, library)) {
      return name.substr(library.size());
    }
  }
  return name;
}

std::optional<NameMeaning> meaningOfZone(std::string_view name) {
  if (const auto meaning = find(kZoneNames, withoutHorovodLibrary(name))) {
    return meaning;
  }
  // JAX derives a gradient's operators from the transposed program.
  if (name.find("transpose(jvp(") != std::string_view::npos) {
    return NameMeaning::kBackward;
  }
  // TensorFlow writes "node:Type".
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? std::nullopt : find(kZoneNames, name.substr(colon + 1));
}

std::optional<SpanKind> kindOf(NameMeaning meaning) {
  switch (meaning) {
    case NameMeaning::kCollective:
      return SpanKind::kCollective;
    case NameMeaning::kWait:
      return SpanKind::kWait;
    case NameMeaning::kInput:
      return SpanKind::kInput;
    default:
      return {};
  }
}

}  // namespace

std::optional<NameMeaning> meaningOf(std::string_view name, SpanKind kind) {
  if (const auto meaning = find(kTorchNames, name)) {
    return meaning;
  }
  if (const auto meaning = meaningOfLightning(name)) {
    return meaning;
  }
  return kind == SpanKind::kZone || kind == SpanKind::kDevice ? meaningOfZone(name) : std::nullopt;
}

void recognizeKind(TraceName* name) {
  if (name->kind != SpanKind::kZone && name->kind != SpanKind::kUserScope &&
      name->kind != SpanKind::kOperator) {
    return;
  }
  const auto meaning = meaningOf(name->text, name->kind);
  const auto kind = meaning ? kindOf(*meaning) : std::nullopt;
  if (!kind) {
    return;
  }
  const std::string category = chromeCategoryOf(*name);
  name->kind = *kind;
  if (category != chromeCategory(*kind, name->text)) {
    name->category = category;
  }
}

void recognizeKinds(std::vector<TraceName>* names) {
  std::for_each(names->begin(), names->end(), [](TraceName& name) { recognizeKind(&name); });
}

}  // namespace steptape::detail::profile
