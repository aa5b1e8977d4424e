# SPDX-License-Identifier: MIT
# The database against the software GPU's log.

# Path of a program.
function(trace_program out runner program)
  if(runner STREQUAL rocm7)
    set(program rocm7/${program})
  endif()
  set(${out} ${PROJECT_BINARY_DIR}/tests/programs/${program} PARENT_SCOPE)
endfunction()

# trace_test(NAME HOW RUNNER "COMPARE-ARGUMENTS" "ENVIRONMENT" PROGRAM [ARGUMENTS...])
function(trace_test name how runner compare environment program)
  if(NOT IS_ABSOLUTE ${program})
    trace_program(program ${runner} ${program})
  endif()
  set(retry)
  if(runner STREQUAL rocm7 AND program MATCHES "fork_exec$")
    set(retry ${PROJECT_SOURCE_DIR}/tests/rocm7/retry)
  endif()
  add_test(NAME trace.${name}
    COMMAND ${retry} ${CMAKE_CURRENT_SOURCE_DIR}/trace_and_compare ${how} ${runner} "${compare}"
      ${program} ${ARGN})
  set(kernels ${PROJECT_BINARY_DIR}/tests/programs/libhost_kernels.so)
  set_tests_properties(trace.${name} PROPERTIES LABELS ${runner} TIMEOUT 600
    SKIP_RETURN_CODE 77
    ENVIRONMENT "RTL_BUILD_DIR=${PROJECT_BINARY_DIR};SOFTGPU_KERNELS=${kernels};${environment}")
endfunction()

if(NOT TARGET softgpu_kmt OR NOT TARGET rtl_rocm)
  add_test(NAME trace COMMAND sh -c
    "echo 'SKIPPED: no software GPU or no collector in this build'; exit 77")
  set_tests_properties(trace PROPERTIES SKIP_RETURN_CODE 77 LABELS softgpu)
  return()
endif()

foreach(runner softgpu rocm7)
  foreach(how command in-process env)
    trace_test(${runner}.${how} ${how} ${runner} "" "" vector_add 65536 100)
  endforeach()
  foreach(program streams_events module_launch graph_launch copies timing fork_exec)
    trace_test(${runner}.${program} command ${runner} "" "" ${program})
  endforeach()
  trace_test(${runner}.threads command ${runner} "--expect 80000" "SOFTGPU_KERNEL_NS=0"
    threads 4 20000)
  trace_test(${runner}.queued command ${runner} "" "AMD_DIRECT_DISPATCH=0" streams_events)
  trace_test(${runner}.fork_exec.in-process in-process ${runner} "" "" fork_exec)
  # The runtime is used, and no kernel is dispatched: the summary says so.
  trace_test(${runner}.no_operation command ${runner} "--cut" "" hsa_dispatch -n 0)
  # Four processes at once, one output
  trace_program(threads ${runner} threads)
  trace_test(${runner}.children command ${runner} "--expect 4000" "EXPECT_LINES=4"
    ${CMAKE_CURRENT_SOURCE_DIR}/trace_times 4 ${threads} 2 500)
  # Ends in order: all of it. Others: what had been published.
  foreach(way return exit thread_exit)
    trace_test(${runner}.exit_ways.${way} command ${runner} "--expect 300" "EXPECT_STATUS=3"
      exit_ways ${way} 300 sync 3)
  endforeach()
  foreach(end _exit:3 abort:134 segv:139 kill9:137 term:143)
    string(REGEX MATCH "^(.*):(.*)$" end ${end})
    trace_test(${runner}.exit_ways.${CMAKE_MATCH_1} command ${runner} "--cut"
      "EXPECT_STATUS=${CMAKE_MATCH_2}" exit_ways ${CMAKE_MATCH_1} 300 sync 3)
    trace_test(${runner}.exit_ways.${CMAKE_MATCH_1}.nosync command ${runner} "--cut"
      "EXPECT_STATUS=${CMAKE_MATCH_2}" exit_ways ${CMAKE_MATCH_1} 300 nosync 3)
  endforeach()
  trace_test(${runner}.exit_ways.static_dtor command ${runner} "--expect 310" "EXPECT_LINES=2"
    exit_ways static_dtor 300)
  trace_test(${runner}.started started ${runner} "--paused --expect 1" "SOFTGPU_KERNEL_NS=0"
    threads 2 60000 10)
  trace_test(${runner}.toggled toggled ${runner} "--paused --expect 1" "SOFTGPU_KERNEL_NS=2000"
    threads 4 10000 10)
  # rtl dies, the program does not notice
  foreach(n RANGE 1 5)
    trace_test(${runner}.killed.${n} killed ${runner} "--expect 4000" "SOFTGPU_KERNEL_NS=50000"
      threads 2 2000)
    set_tests_properties(trace.${runner}.killed.${n} PROPERTIES LABELS "${runner};stress")
  endforeach()
endforeach()

trace_test(softgpu.two_gpus command softgpu "" "SOFTGPU_COUNT=2" two_gpus)
# What the issue asks for: 100,000 dispatches from each of four threads on two GPUs
trace_test(softgpu.many command softgpu "--expect 400000" "SOFTGPU_COUNT=2;SOFTGPU_KERNEL_NS=0"
  threads 4 100000)
trace_test(softgpu.eight_gpus command softgpu "--expect 16000" "SOFTGPU_COUNT=8" threads 16 1000)
trace_test(softgpu.odd_clock command softgpu "--clock-hz 27000000"
  "SOFTGPU_CLOCK_HZ=27000000;SOFTGPU_CLOCK_OFF=987654321" streams_events)
trace_test(softgpu.copies_two_gpus command softgpu "" "SOFTGPU_COUNT=2" copies)
trace_test(softgpu.copies_no_interrupt command softgpu "" "HSA_ENABLE_INTERRUPT=0" copies)
trace_test(softgpu.copies_odd_clock command softgpu "--clock-hz 27000000"
  "SOFTGPU_CLOCK_HZ=27000000;SOFTGPU_CLOCK_OFF=987654321" copies)
trace_test(softgpu.no_sdma_two_gpus command softgpu "" "SOFTGPU_COUNT=2;HSA_ENABLE_SDMA=0" two_gpus)
trace_test(softgpu.no_sdma command softgpu "" "HSA_ENABLE_SDMA=0" copies)
trace_test(softgpu.no_interrupt command softgpu "" "HSA_ENABLE_INTERRUPT=0" streams_events)

# What RPD's tools make of it
add_test(NAME trace.softgpu.rpd_tools COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/rpd_tools.py
  $<TARGET_FILE:rtl_cli> ${CMAKE_CURRENT_SOURCE_DIR}/../softgpu/run
  ${PROJECT_BINARY_DIR}/tests/programs/two_gpus)
set_tests_properties(trace.softgpu.rpd_tools PROPERTIES LABELS softgpu TIMEOUT 300 ENVIRONMENT
  "SOFTGPU_COUNT=2;RTL_HSA_EXIT_MS=60000;SOFTGPU_KERNELS=${PROJECT_BINARY_DIR}/tests/programs/libhost_kernels.so")

# What the program's own events say, with the tool and without it
foreach(runner softgpu rocm7)
  foreach(how alone lite standard hip full)
    trace_program(timing ${runner} timing)
    add_test(NAME trace.${runner}.elapsed.${how}
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/elapsed ${how} ${runner} ${timing} 50)
    set_tests_properties(trace.${runner}.elapsed.${how} PROPERTIES LABELS ${runner} TIMEOUT 600
      SKIP_RETURN_CODE 77 ENVIRONMENT
      "RTL_BUILD_DIR=${PROJECT_BINARY_DIR};SOFTGPU_KERNELS=${PROJECT_BINARY_DIR}/tests/programs/libhost_kernels.so")
  endforeach()
endforeach()
