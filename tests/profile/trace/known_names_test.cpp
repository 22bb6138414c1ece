// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/known_names.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace steptape {
namespace {

using detail::profile::meaningOf;
using detail::profile::NameMeaning;
using detail::profile::recognizeKind;

void expectMeaning(NameMeaning meaning, SpanKind kind, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    EXPECT_EQ(meaningOf(name, kind), meaning) << name;
  }
}

TEST(KnownNames, AreTheCollectivesOfTorch) {
  expectMeaning(NameMeaning::kCollective, SpanKind::kUserScope,
                {"gloo:all_reduce", "gloo:broadcast", "gloo:recvAnySource", "nccl:all_reduce",
                 "nccl:_all_gather_base", "nccl:coalesced", "mpi:all_reduce", "ucc:allreduce",
                 "xccl:all_reduce"});
  expectMeaning(NameMeaning::kCollective, SpanKind::kOperator,
                {"c10d::allreduce_", "c10d::barrier", "c10d::_allgather_base_",
                 "_c10d_functional::all_reduce", "_c10d_functional::wait_tensor",
                 "c10d_functional::all_gather_into_tensor", "record_param_comms",
                 "oneccl_bindings_for_pytorch::allreduce"});
}

TEST(KnownNames, AreTheLoadersOfTorchAndLightning) {
  expectMeaning(NameMeaning::kInput, SpanKind::kUserScope,
                {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                 "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                 "enumerate(DataPipe)#ZipperIterDataPipe",
                 "[pl][profile][_TrainingEpochLoop].train_dataloader_next",
                 "[pl][profile][_EvaluationLoop].val_next"});
}

TEST(KnownNames, AreTheOptimizersOfTorchAndTensorFlow) {
  expectMeaning(NameMeaning::kOptimizer, SpanKind::kUserScope,
                {"Optimizer.step#Adam.step", "Optimizer.zero_grad#SGD.zero_grad"});
  expectMeaning(
      NameMeaning::kOptimizer, SpanKind::kZone,
      {"optimizer", "ResourceApplyAdam", "adam/update/ResourceApplyAdam:ResourceApplyAdam"});
}

TEST(KnownNames, AreTheStagesOfBackward) {
  expectMeaning(NameMeaning::kBackward, SpanKind::kOperator,
                {"autograd::engine::evaluate_function: AddmmBackward0",
                 "torch::distributed::reducer::mul_out",
                 "torch.distributed.ddp.reducer::copy_bucket_to_grad"});
  expectMeaning(NameMeaning::kBackward, SpanKind::kUserScope,
                {"[pl][profile][Strategy]DDPStrategy.backward"});
  expectMeaning(NameMeaning::kBackward, SpanKind::kZone,
                {"gradient_tape/model/dense/MatMul/MatMul:MatMul",
                 "jit(step)/transpose(jvp(Dense))/dot_general"});
}

// Lightning's optimizer calls the training step.
TEST(KnownNames, SeparateLightningsTrainingStepFromItsOptimizer) {
  expectMeaning(NameMeaning::kForward, SpanKind::kUserScope,
                {"[pl][profile][Strategy]SingleDeviceStrategy.training_step"});
}

TEST(KnownNames, AreTheInstructionsOfXla) {
  expectMeaning(NameMeaning::kCollective, SpanKind::kZone,
                {"all-reduce", "all-reduce.7", "all-reduce-start.2", "all-gather-done.1",
                 "collective-permute.3", "reduce-scatter-fusion.1", "psum_invariant.22",
                 "ppermute.3", "all_gather.7", "Rendezvous", "Wait: pending_threads=1/2"});
  expectMeaning(NameMeaning::kInput, SpanKind::kZone,
                {"infeed.3", "InfeedEnqueueTuple", "Iterator::Root::Prefetch",
                 "IteratorGetNext:IteratorGetNext"});
}

TEST(KnownNames, AreThoseOfTensorFlowAndHorovod) {
  expectMeaning(NameMeaning::kCollective, SpanKind::kZone,
                {"CollectiveReduceV2", "cond/CollectiveGatherV2:CollectiveGatherV2",
                 "DistributedAdam_Allreduce/HorovodAllreduce_0:HorovodAllreduce", "ALLREDUCE",
                 "NCCL_ALLREDUCE", "MPI_ALLGATHER", "GLOO_ALLTOALL"});
  expectMeaning(NameMeaning::kWait, SpanKind::kZone,
                {"NEGOTIATE_ALLREDUCE", "WAIT_FOR_OTHER_TENSOR_DATA"});
}

TEST(KnownNames, AreNoOtherNames) {
  for (const char* const name :
       {"", "forward", "cpu-all-reduce-combiner", "all-reduce-promotion", "all_to_all_decomposer",
        "reduce-scatter-decomposer", "all-reduced", "QUEUE", "MEMCPY_IN_FUSION_BUFFER", "psummary",
        "end: all-reduce", "train.py(10): main", "[pl][profile]run_training_epoch"}) {
    EXPECT_EQ(meaningOf(name, SpanKind::kZone), std::nullopt) << name;
  }
  for (const char* const name : {"aten::mm", "ALLREDUCE", "all-reduce", "Rendezvous"}) {
    EXPECT_EQ(meaningOf(name, SpanKind::kUserScope), std::nullopt) << name;
  }
}

TEST(RecognizeKind, KeepsTheCategory) {
  TraceName call{"c10d::allreduce_", SpanKind::kOperator};
  recognizeKind(&call);
  EXPECT_EQ(call.kind, SpanKind::kCollective);
  EXPECT_EQ(call.category, "cpu_op");
  TraceName work{"gloo:all_reduce", SpanKind::kUserScope};
  recognizeKind(&work);
  EXPECT_EQ(work.kind, SpanKind::kCollective);
  EXPECT_EQ(work.category, "");
}

TEST(RecognizeKind, LeavesOtherKinds) {
  TraceName kernel{"all-reduce.1", SpanKind::kDevice};
  recognizeKind(&kernel);
  EXPECT_EQ(kernel.kind, SpanKind::kDevice);
  TraceName optimizer{"Optimizer.step#Adam.step", SpanKind::kUserScope};
  recognizeKind(&optimizer);
  EXPECT_EQ(optimizer.kind, SpanKind::kUserScope);
}

}  // namespace
}  // namespace steptape
