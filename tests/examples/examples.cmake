# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of the examples. They get PROGRAM, STEPTAPE (the tool), MPIEXEC, SOURCE_DIR
# and WORK_DIR, and start jobs with run_ranks() and expect_failure().
include(${CMAKE_CURRENT_LIST_DIR}/../run_ranks.cmake)

# run_example(<ranks> <argument>...): run_ranks() that must succeed.
function(run_example ranks)
  run_ranks(${ranks} ${ARGN})
  if(NOT STATUS EQUAL 0)
    message(FATAL_ERROR "exit code ${STATUS} on ${ranks} ranks: ${ARGN}\n${OUTPUT}\n${ERRORS}")
  endif()
  set(OUTPUT "${OUTPUT}" PARENT_SCOPE)
endfunction()

# run_tool(<argument>...): sets OUTPUT to the output of the tool.
function(run_tool)
  execute_process(
    COMMAND ${STEPTAPE} ${ARGN}
    WORKING_DIRECTORY ${WORK_DIR}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "steptape ${ARGN}: exit code ${status}\n${output}\n${errors}")
  endif()
  set(OUTPUT "${output}" PARENT_SCOPE)
endfunction()

# read_scalars(<run>): sets SCALARS to all scalars of the run, and RUN.
function(read_scalars run)
  run_tool(check ${run})
  run_tool(export ${run})
  set(SCALARS "${OUTPUT}" PARENT_SCOPE)
  set(RUN ${run} PARENT_SCOPE)
endfunction()

# expect_points(<tag> <operator> <count>): checks the number of points in the run that was read.
function(expect_points tag operator count)
  string(JSON got ERROR_VARIABLE error LENGTH "${SCALARS}" ${RUN}/${tag})
  if(error OR NOT "${got}" ${operator} "${count}")
    message(FATAL_ERROR "${RUN}/${tag}: got ${got} points, expected ${operator} ${count}")
  endif()
endfunction()

# expect_same_points(<run> <run> <count>): checks that the runs have the same steps and losses, to the last digit.
function(expect_same_points whole other count)
  read_scalars(${whole})
  set(expected_points "${SCALARS}")
  read_scalars(${other})
  math(EXPR last "${count} - 1")
  foreach(tag IN ITEMS loss/train optimizer/learning_rate)
    expect_points(${tag} EQUAL ${count})
    foreach(point RANGE ${last})
      foreach(part IN ITEMS 1 2)  # Step and value; the time differs.
        string(JSON expected GET "${expected_points}" ${whole}/${tag} ${point} ${part})
        string(JSON got GET "${SCALARS}" ${other}/${tag} ${point} ${part})
        if(NOT got STREQUAL expected)
          message(FATAL_ERROR "${other}/${tag}, point ${point}: got ${got}, expected ${expected} as in ${whole}")
        endif()
      endforeach()
    endforeach()
  endforeach()
endfunction()

# get_value(<variable> <tag>): sets the variable to the last value.
function(get_value variable tag)
  string(JSON count LENGTH "${SCALARS}" ${RUN}/${tag})
  math(EXPR last "${count} - 1")
  string(JSON value GET "${SCALARS}" ${RUN}/${tag} ${last} 2)
  set(${variable} ${value} PARENT_SCOPE)
endfunction()

# expect_value(<tag> <operator> <value>): checks the last value.
function(expect_value tag operator value)
  get_value(got ${tag})
  if(NOT "${got}" ${operator} "${value}")
    message(FATAL_ERROR "${RUN}/${tag}: got ${got}, expected ${operator} ${value}")
  endif()
endfunction()

# expect_text(<text> <regular expression>): checks that the text matches.
function(expect_text text expression)
  if(NOT "${text}" MATCHES "${expression}")
    message(FATAL_ERROR "expected '${expression}' in:\n${text}")
  endif()
endfunction()

# expect_tag(<run> <tag> <plugin>): checks for a tag that is not a scalar.
function(expect_tag run tag plugin)
  run_tool(inspect ${run})
  expect_text("${OUTPUT}" "\n +${tag} +[0-9]+ +[0-9.]+ +${plugin} ")
endfunction()

# to_millionths(<variable> <number>): sets the variable to the number times 10^6. CMake calculates with
# whole numbers only.
function(to_millionths variable number)
  if(NOT number MATCHES "^([0-9]+)\\.?([0-9]*)$")
    message(FATAL_ERROR "got ${number}, expected a positive number without exponent")
  endif()
  string(SUBSTRING "${CMAKE_MATCH_2}000000" 0 6 fraction)
  math(EXPR result "${CMAKE_MATCH_1}${fraction}")
  set(${variable} ${result} PARENT_SCOPE)
endfunction()

# expect_close(<number> <number> <millionths>): checks that they differ by no more than this part of the first.
function(expect_close got expected millionths)
  to_millionths(a ${got})
  to_millionths(b ${expected})
  math(EXPR difference "(${a} - ${b}) * 1000000")
  math(EXPR bound "(${a} + 1000000) * ${millionths}")
  if(difference GREATER bound OR difference LESS -${bound})
    message(FATAL_ERROR "got ${got}, expected ${expected}")
  endif()
endfunction()
