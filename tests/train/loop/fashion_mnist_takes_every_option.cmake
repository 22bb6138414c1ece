# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/../../run_ranks.cmake)

foreach(compression IN ITEMS none fp16 bf16 powersgd)
  train(2 --model mlp --max-steps 12 --compression ${compression} --no-log)
  expect_json(step EQUAL 12)
  expect_json(test_accuracy GREATER 0.2)
endforeach()

train(2 --model mlp --accumulate 4 --clip 0.5 --max-steps 6 --log-dir clipped)
expect_json(step EQUAL 6)
file(READ ${WORK_DIR}/clipped.json scalars)
foreach(tag IN ITEMS loss/train loss/train/min loss/train/max optimizer/gradient_norm)
  string(JSON points LENGTH "${scalars}" clipped/${tag})
  if(NOT points EQUAL 6)
    message(FATAL_ERROR "${tag}: got ${points} points, wanted one per step")
  endif()
endforeach()

# A file that exists when the first profile ends requests another one, of both ranks.
file(TOUCH ${WORK_DIR}/profile_now)
train(2 --model mlp --max-steps 100 --evaluate-steps 0 --log-dir asked --profile-file profile_now)
file(GLOB traces ${WORK_DIR}/asked/*.pt.trace.json.gz)
list(LENGTH traces count)
if(NOT count EQUAL 4)
  message(FATAL_ERROR "got ${count} traces, wanted two of each rank")
endif()

train(2 --model mlp --max-seconds 0.001 --no-log)
expect_json(stopped_by STREQUAL "the time limit")
expect_json(step LESS 469)

# No accuracy is better than the one before where nothing is learnt.
train(2 --model mlp --lr 0 --epochs 9 --batch-size 1024 --evaluate-steps 0 --patience 1 --no-log)
expect_json(stopped_by STREQUAL "a metric that improves no more")
expect_json(epochs EQUAL 2)
