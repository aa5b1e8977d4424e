# SPDX-License-Identifier: MIT
# The HSA collector on the software GPU: what is published against the GPU's own log.
# Tests for ROCm 7 skip themselves where it has not been fetched.
if(NOT TARGET rtl_rocm OR NOT RTL_HIPCC)
  return()
endif()
set(programs ${PROJECT_BINARY_DIR}/tests/programs)
set(hsa_dir ${PROJECT_BINARY_DIR}/tests/integration)

# A subscriber that writes text.
add_library(hsa_dump_sub MODULE hsa_dump.c)
target_link_libraries(hsa_dump_sub PRIVATE rtl_settings rtl_shared_settings)
set_target_properties(hsa_dump_sub PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${hsa_dir})

# Another tool beside the collector.
add_library(hsa_profiler MODULE hsa_profiler.c ${PROJECT_SOURCE_DIR}/streams/hsa/runtime/table.c)
target_include_directories(hsa_profiler SYSTEM PRIVATE ${RTL_HSA_INCLUDE_DIR})
target_link_libraries(hsa_profiler PRIVATE rtl_settings rtl_shared_settings)
set_target_properties(hsa_profiler PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${hsa_dir})

# A program of the HSA runtime, for both versions of it.
function(hsa_program name)
  add_executable(${name} ${name}.c)
  target_include_directories(${name} SYSTEM PRIVATE ${RTL_HSA_INCLUDE_DIR})
  target_link_libraries(${name} PRIVATE hsa-runtime64)
  target_compile_options(${name} PRIVATE -Wall -Wextra)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${hsa_dir})
endfunction()
hsa_program(hsa_signals)
hsa_program(harm_stack)
target_link_libraries(harm_stack PRIVATE pthread ${CMAKE_DL_LIBS})
hsa_program(hsa_again)
hsa_program(hsa_begin_end)
target_link_libraries(hsa_begin_end PRIVATE pthread)
hsa_program(hsa_handler)
hsa_program(hsa_end)
hsa_program(hsa_late)
hsa_program(hsa_odd)
target_link_libraries(hsa_odd PRIVATE pthread)
hsa_program(hsa_storm)
hsa_program(hsa_rings)
target_link_libraries(hsa_rings PRIVATE pthread)
hsa_program(harm_fork)
target_link_libraries(harm_fork PRIVATE rtl pthread ${CMAKE_DL_LIBS})
hsa_program(hsa_queues)
target_link_libraries(hsa_queues PRIVATE ${CMAKE_DL_LIBS})
target_include_directories(hsa_queues PRIVATE ${PROJECT_SOURCE_DIR}/include)
hsa_program(hsa_copies)
target_link_libraries(hsa_copies PRIVATE pthread dl)

# hsa_trace_test(NAME RUNNER COMPARE COMMAND... [ENV ...]): integration.hsa.RUNNER.NAME
function(hsa_trace_test name runner compare)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "ENV")
  set(test integration.hsa.${runner}.${name})
  add_test(NAME ${test} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hsa_trace ${runner} "${compare}"
    ${arg_UNPARSED_ARGUMENTS})
  set_tests_properties(${test} PROPERTIES LABELS ${runner} TIMEOUT 600 SKIP_RETURN_CODE 77
    ENVIRONMENT "RTL_BUILD_DIR=${PROJECT_BINARY_DIR};${arg_ENV}")
endfunction()

# hsa_trace_both(NAME COMPARE PROGRAM ARGUMENTS... [ENV ...]): with each ROCm, kernels run on
# the host
function(hsa_trace_both name compare program)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "ENV")
  hsa_trace_test(${name} softgpu "${compare}" ${programs}/${program} ${arg_UNPARSED_ARGUMENTS}
    ENV SOFTGPU_COUNT=2 SOFTGPU_KERNELS=${programs}/libhost_kernels.so ${arg_ENV})
  if(RTL_ROCM7_FOUND)
    hsa_trace_test(${name} rocm7 "${compare}" ${programs}/rocm7/${program}
      ${arg_UNPARSED_ARGUMENTS} ENV SOFTGPU_KERNELS=${programs}/libhost_kernels.so ${arg_ENV})
  endif()
endfunction()

hsa_trace_both(vector_add "" vector_add)
hsa_trace_both(threads "" threads)
hsa_trace_both(dispatch "--own @out" hsa_dispatch -n 3000 -v)
hsa_trace_both(queues "" hsa_dispatch -n 3000 -S -t 4)
hsa_trace_both(rounds "--own @out" hsa_dispatch -n 500 -r 20 -v)
hsa_trace_both(batches "--own @out" hsa_dispatch -n 2000 -b 8 -B 4 -u -v)
# Several threads on one queue, on 5.2.3 only: 7.2.4's intercept queues have a staging buffer of 256
# packets that threads overflow together, whatever the interceptor does (README).
hsa_trace_test(one_queue softgpu "--own @out" ${programs}/hsa_dispatch -n 3000 -m -t 4 -v -s 256
  ENV SOFTGPU_COUNT=2 SOFTGPU_KERNELS=${programs}/libhost_kernels.so)
hsa_trace_test(one_queue_large softgpu "--own @out" ${programs}/hsa_dispatch -n 3000 -m -t 4 -v
  ENV SOFTGPU_COUNT=2 SOFTGPU_KERNELS=${programs}/libhost_kernels.so)
# Not on ROCm 7: 7.2.4's intercept queue ends the program now and then by an assertion of its own
# ("no free slot for a retry barrier packet") when several threads share a small queue.
hsa_trace_test(small_queue softgpu "" ${programs}/hsa_dispatch -n 3000 -m -t 4 -s 128
  ENV SOFTGPU_COUNT=2 SOFTGPU_KERNELS=${programs}/libhost_kernels.so)
# A ring that is full for as long as kernels of 130 ms last, behind several rings of the doorbell. Not
# on ROCm 7, for the same reason.
hsa_trace_test(full_queue softgpu "--own @out" ${programs}/hsa_dispatch -n 18 -b 6 -m -t 4 -v -s 64
  ENV SOFTGPU_KERNEL_NS=130000000 SOFTGPU_KERNELS=${programs}/libhost_kernels.so)
# The same with one ring of the doorbell for several packets, where nothing or not all is recorded, and at
# the end of the process. The runtime's assertion would end the program.
foreach(signals none own shared)
  foreach(mode paused lite hip)
    set(options --mode ${mode})
    if(mode STREQUAL paused)
      set(options --paused)
    endif()
    foreach(end back leave)
      # What all dispatches count down tells of none of them where there is no harvester any more.
      if(signals STREQUAL shared AND end STREQUAL leave)
        continue()
      endif()
      set(test integration.hsa.softgpu.rings_${signals}_${mode}_${end})
      set(arguments ${signals})
      if(end STREQUAL leave)
        list(APPEND arguments leave)
      endif()
      add_test(NAME ${test} COMMAND $<TARGET_FILE:rtl_cli> trace -q ${options}
        -o ${CMAKE_CURRENT_BINARY_DIR}/${test}.db --
        ${CMAKE_CURRENT_SOURCE_DIR}/../softgpu/run ${hsa_dir}/hsa_rings ${arguments})
      set_tests_properties(${test} PROPERTIES LABELS softgpu TIMEOUT 120
        ENVIRONMENT "RTL_BUILD_DIR=${PROJECT_BINARY_DIR};SOFTGPU_KERNEL_NS=10000000")
    endforeach()
  endforeach()
endforeach()
# The least stack that a thread may have: what rtl adds in hsa_init must not be what is too much.
if(NOT RTL_SANITIZE)
  set(begin ${CMAKE_CURRENT_SOURCE_DIR}/../softgpu/run ${hsa_dir}/harm_stack begin)
  set(commands_bare ${begin})
  set(commands_in_process env LD_PRELOAD=$<TARGET_FILE:rtl_rocm> RTL_MODE=full
    HSA_TOOLS_LIB=$<TARGET_FILE:rtl_rocm>
    RTL_SUBSCRIBERS=$<TARGET_FILE:sqlite_sub>?output=${CMAKE_CURRENT_BINARY_DIR}/harm_stack_in.db
    ${begin})
  set(commands_collected $<TARGET_FILE:rtl_cli> trace -q --mode full
    -o ${CMAKE_CURRENT_BINARY_DIR}/harm_stack.db -- ${begin})
  foreach(how bare in_process collected)
    set(test integration.harm.small_stack_${how})
    add_test(NAME ${test} COMMAND ${commands_${how}})
    set_tests_properties(${test} PROPERTIES LABELS softgpu TIMEOUT 120
      ENVIRONMENT "RTL_BUILD_DIR=${PROJECT_BINARY_DIR}" PASS_REGULAR_EXPRESSION "harm_stack: ok")
  endforeach()
endif()
# Callbacks that do not come back, and handlers on a small stack.
if(NOT RTL_SANITIZE)
  enable_language(CXX)
  add_executable(harm_callbacks harm_callbacks.cpp)
  target_include_directories(harm_callbacks SYSTEM PRIVATE ${RTL_HSA_INCLUDE_DIR})
  target_link_libraries(harm_callbacks PRIVATE hsa-runtime64 Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(harm_callbacks PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${hsa_dir})
  set(callbacks ${CMAKE_CURRENT_SOURCE_DIR}/../softgpu/run ${hsa_dir}/harm_callbacks)
  set(commands_bare ${callbacks})
  set(commands_in_process env LD_PRELOAD=$<TARGET_FILE:rtl_rocm> RTL_MODE=full
    HSA_TOOLS_LIB=$<TARGET_FILE:rtl_rocm>
    RTL_SUBSCRIBERS=${hsa_dir}/libhsa_dump_sub.so?output=/dev/null ${callbacks})
  set(commands_collected $<TARGET_FILE:rtl_cli> trace -q --mode full
    -o ${CMAKE_CURRENT_BINARY_DIR}/harm_callbacks.db -- ${callbacks})
  foreach(how bare in_process collected)
    set(test integration.harm.callbacks_${how})
    add_test(NAME ${test} COMMAND ${commands_${how}})
    set_tests_properties(${test} PROPERTIES LABELS softgpu TIMEOUT 120
      ENVIRONMENT "RTL_BUILD_DIR=${PROJECT_BINARY_DIR}" PASS_REGULAR_EXPRESSION "harm_callbacks: ok")
  endforeach()
endif()
# Forks while other threads have locks: without rtl, with the subscribers in the process, and collected.
# Not with ROCm 7, whose model maps as much memory as the machine has: it often cannot be forked.
set(run ${CMAKE_CURRENT_SOURCE_DIR}/../softgpu/run)
set(preloaded env LD_PRELOAD=$<TARGET_FILE:rtl_rocm> RTL_MODE=full
  RTL_SUBSCRIBERS=${hsa_dir}/libhsa_dump_sub.so?output=/dev/null)
set(commands_bare ${run} ${hsa_dir}/harm_fork hsa)
set(commands_roctx ${preloaded} ${run} ${hsa_dir}/harm_fork)
set(commands_in_process ${preloaded} HSA_TOOLS_LIB=$<TARGET_FILE:rtl_rocm> ${run}
  ${hsa_dir}/harm_fork hsa)
set(commands_collected $<TARGET_FILE:rtl_cli> trace -q --mode full
  -o ${CMAKE_CURRENT_BINARY_DIR}/harm_fork.db -- ${run} ${hsa_dir}/harm_fork hsa)
foreach(how bare roctx in_process collected)
  set(test integration.harm.fork_${how})
  add_test(NAME ${test} COMMAND ${CMAKE_CURRENT_LIST_DIR}/own_spool ${commands_${how}})
  set_tests_properties(${test} PROPERTIES LABELS softgpu TIMEOUT 300
    ENVIRONMENT "RTL_BUILD_DIR=${PROJECT_BINARY_DIR}" PASS_REGULAR_EXPRESSION "harm_fork: ok")
endforeach()
hsa_trace_both(timing "" timing)
hsa_trace_both(streams_events "" streams_events)
hsa_trace_both(graph_launch "" graph_launch)
hsa_trace_both(copies "" copies)
hsa_trace_both(module_launch "" module_launch)
hsa_trace_test(two_gpus softgpu "" ${programs}/two_gpus
  ENV SOFTGPU_COUNT=2 SOFTGPU_KERNELS=${programs}/libhost_kernels.so)
hsa_trace_test(spin_pair softgpu "" ${programs}/spin_pair
  ENV SOFTGPU_COUNT=2 SOFTGPU_KERNELS=${programs}/libhost_kernels.so)

# Every function of the HSA runtime, against the program's own log of its calls.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_package(Threads REQUIRED)
add_library(hsa_calls_sub MODULE hsa_calls_sub.c)
target_link_libraries(hsa_calls_sub PRIVATE rtl_settings rtl_shared_settings)
set_target_properties(hsa_calls_sub PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${hsa_dir})

# hsa_calls_program(NAME ROCM7 INCLUDE-FOLDER): built with the headers of that version
function(hsa_calls_program name rocm7 include)
  set(table ${PROJECT_SOURCE_DIR}/streams/hsa/calls.table)
  set(log ${CMAKE_CURRENT_BINARY_DIR}/${name}_log.h)
  set(maker ${CMAKE_CURRENT_SOURCE_DIR}/hsa_calls_log.py)
  add_custom_command(OUTPUT ${log}
    COMMAND Python3::Interpreter ${maker} ${table} ${log} ${include}
    DEPENDS ${maker} ${table} ${PROJECT_SOURCE_DIR}/streams/hsa/generate_calls.py VERBATIM)
  add_executable(${name} hsa_calls.c ${log})
  target_compile_definitions(${name} PRIVATE _GNU_SOURCE HSA_CALLS_LOG="${log}"
    HSA_CALLS_ROCM7=${rocm7})
  target_include_directories(${name} SYSTEM BEFORE PRIVATE ${include})
  target_compile_options(${name} PRIVATE -Wall -Wextra)
  target_link_libraries(${name} PRIVATE Threads::Threads)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${hsa_dir})
endfunction()

# hsa_calls_test(NAME RUNNER PROGRAM CODE-OBJECTS NOT-CALLED...)
function(hsa_calls_test name runner program objects)
  set(test integration.hsa.${runner}.${name})
  add_test(NAME ${test} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hsa_calls_trace ${runner}
    ${hsa_dir}/${program} ${objects} ${ARGN})
  set_tests_properties(${test} PROPERTIES LABELS ${runner} TIMEOUT 120 SKIP_RETURN_CODE 77
    ENVIRONMENT "RTL_BUILD_DIR=${PROJECT_BINARY_DIR}")
endfunction()

# hsa_calls_recorded_test(RUNNER PROGRAM CODE-OBJECTS): the database of `rtl trace --mode full`
function(hsa_calls_recorded_test runner program objects)
  set(test integration.hsa.${runner}.calls_recorded)
  add_test(NAME ${test} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hsa_calls_recorded ${runner}
    ${hsa_dir}/${program} ${objects})
  set_tests_properties(${test} PROPERTIES LABELS ${runner} TIMEOUT 120 SKIP_RETURN_CODE 77
    ENVIRONMENT "RTL_BUILD_DIR=${PROJECT_BINARY_DIR}")
endfunction()

hsa_calls_program(hsa_calls 0 ${RTL_HSA_INCLUDE_DIR})
target_link_libraries(hsa_calls PRIVATE hsa-runtime64)
# What is not called ends the process where the kernel cannot do it.
hsa_calls_test(calls softgpu hsa_calls ${programs}/hsa_kernels hsa_amd_svm_prefetch_async)
hsa_calls_recorded_test(softgpu hsa_calls ${programs}/hsa_kernels)
# Begins are recorded, too, by whoever submits, and wait for room as everything else does.
add_test(NAME integration.hsa.softgpu.begins_recorded
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hsa_begins_recorded softgpu ${programs}/hsa_dispatch -n 20000 -b 64 -t 2 -S)
set_tests_properties(integration.hsa.softgpu.begins_recorded PROPERTIES LABELS softgpu TIMEOUT 300
  SKIP_RETURN_CODE 77 ENVIRONMENT "RTL_BUILD_DIR=${PROJECT_BINARY_DIR}")
if(RTL_ROCM7_FOUND)
  hsa_calls_program(hsa_calls7 1 ${RTL_ROCM7_INCLUDE_DIR})
  target_link_libraries(hsa_calls7 PRIVATE ${RTL_ROCM7_LIBRARY_DIR}/libhsa-runtime64.so.1
    ${RTL_ROCM7_LINK_OPTIONS})
  set_target_properties(hsa_calls7 PROPERTIES SKIP_BUILD_RPATH TRUE)
  hsa_calls_test(calls rocm7 hsa_calls7 ${programs}/rocm7/hsa_kernels
    hsa_amd_memory_unlock hsa_amd_svm_prefetch_async)
  hsa_calls_recorded_test(rocm7 hsa_calls7 ${programs}/rocm7/hsa_kernels)
endif()

# Memory: sizes, agents and totals.
hsa_program(hsa_memory)
target_link_libraries(hsa_memory PRIVATE Threads::Threads)
foreach(runner softgpu rocm7)
  add_test(NAME integration.hsa.${runner}.memory
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hsa_memory_trace ${runner})
  set_tests_properties(integration.hsa.${runner}.memory PROPERTIES LABELS ${runner} TIMEOUT 120
    SKIP_RETURN_CODE 77 ENVIRONMENT "RTL_BUILD_DIR=${PROJECT_BINARY_DIR}")
endforeach()
set_property(TEST integration.hsa.softgpu.memory APPEND PROPERTY ENVIRONMENT SOFTGPU_COUNT=2)

# Signals in every use; the same program runs on both.
hsa_trace_test(signals softgpu "--unnamed --own @out" ${hsa_dir}/hsa_signals)
hsa_trace_test(signals rocm7 "--unnamed --own @out" ${hsa_dir}/hsa_signals)
# A runtime that ends takes its queues with it, and their slots are free again.
hsa_trace_test(again softgpu "--unnamed" ${hsa_dir}/hsa_again ENV RTL_HSA_SLOTS=4096)
# A handler of the program's that waits for what relays complete.
hsa_trace_test(handler softgpu "--unnamed" ${hsa_dir}/hsa_handler)
hsa_trace_test(handler rocm7 "--unnamed" ${hsa_dir}/hsa_handler)
# Uses of queues and signals that are rare; the own times are those of some of the cases.
foreach(runner softgpu rocm7)
  hsa_trace_test(odd_barriers ${runner} "--unnamed" ${hsa_dir}/hsa_odd barriers)
  # Of 9000 dispatches with three signals 1024 at a time can have a signal that stands in.
  hsa_trace_test(odd_many ${runner} "--unnamed --own @out --missed 6000" ${hsa_dir}/hsa_odd many)
  add_test(NAME integration.hsa.${runner}.odd_leave
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hsa_leave ${runner} ${hsa_dir}/hsa_odd leave)
  set_tests_properties(integration.hsa.${runner}.odd_leave PROPERTIES LABELS ${runner} TIMEOUT 300
    SKIP_RETURN_CODE 77 ENVIRONMENT "RTL_BUILD_DIR=${PROJECT_BINARY_DIR}")
  hsa_trace_test(odd_overflow ${runner} "--unnamed --passed-on" ${hsa_dir}/hsa_odd overflow)
  hsa_trace_test(odd ${runner} "--unnamed --own @out"
    ${hsa_dir}/hsa_odd batches dependencies mixed order handlers churn values kinds full)
endforeach()
# On ROCm 7 not: see one_queue. In the modes with calls it is known whose a packet is.
hsa_trace_test(odd_owners softgpu "--unnamed --barriers 1 --owners" ${hsa_dir}/hsa_odd ahead
  ENV RTL_MODE=full)
hsa_trace_test(odd_crowd softgpu "--unnamed" ${hsa_dir}/hsa_odd crowd)
# A clock with odd ticks, begun elsewhere.
hsa_trace_test(odd_clock softgpu "--tick 40" ${programs}/vector_add
  ENV SOFTGPU_CLOCK_HZ=27000000 SOFTGPU_CLOCK_OFF=987654321012)
# Copies of every kind; the same program runs on both, on ROCm 7 with one GPU.
foreach(runner softgpu rocm7)
  set(gpus SOFTGPU_COUNT=2)
  if(runner STREQUAL rocm7)
    set(gpus SOFTGPU_COUNT=1)
  endif()
  hsa_trace_test(hsa_copies ${runner} "--own-copies @out" ${hsa_dir}/hsa_copies ENV ${gpus})
  hsa_trace_test(hsa_copies_polled ${runner} "--own-copies @out" ${hsa_dir}/hsa_copies 2 100
    ENV ${gpus} HSA_ENABLE_INTERRUPT=0)
  foreach(threads 1 16)
    hsa_trace_test(hsa_copies_${threads} ${runner} "--own-copies @out" ${hsa_dir}/hsa_copies
      ${threads} 1000 ENV ${gpus})
  endforeach()
endforeach()
hsa_trace_test(hsa_copies_blit softgpu "--own-copies @out" ${hsa_dir}/hsa_copies
  ENV SOFTGPU_COUNT=2 HSA_ENABLE_SDMA=0)
hsa_trace_test(hsa_copies_odd_clock softgpu "--tick 40 --own-copies @out" ${hsa_dir}/hsa_copies
  ENV SOFTGPU_CLOCK_HZ=27000000 SOFTGPU_CLOCK_OFF=987654321012)
# A slow subscriber, the collector loaded twice, and another tool beside it.
hsa_trace_test(hsa_copies_slow_subscriber softgpu "--own-copies @out" ${hsa_dir}/hsa_copies
  ENV "HSA_DUMP=&delay_us=200")
hsa_trace_test(hsa_copies_twice softgpu "--own-copies @out" ${hsa_dir}/hsa_copies
  ENV HSA_BEFORE=$<TARGET_FILE:rtl_rocm>)
hsa_trace_test(hsa_copies_profiler softgpu "--own-copies @out" ${hsa_dir}/hsa_copies
  ENV HSA_AFTER=${hsa_dir}/libhsa_profiler.so)
# A subscriber that does not get on for a while, and rings that are full by then: nothing is lost.
hsa_trace_test(stalled_at_end softgpu "" ${programs}/hsa_dispatch -n 1000 -t 2 -S
  ENV "HSA_DUMP=&stall_ms=5000" RTL_BUFFER_SIZE=64k RTL_BUFFER_TOTAL=256M SOFTGPU_KERNEL_NS=0 RTL_HSA_EXIT_MS=100
    SOFTGPU_KERNELS=${programs}/libhost_kernels.so)
hsa_trace_test(stalled_subscriber softgpu "" ${programs}/hsa_dispatch -n 20000 -t 2 -S
  ENV "HSA_DUMP=&stall_ms=3000" RTL_BUFFER_SIZE=64k RTL_BUFFER_TOTAL=256M SOFTGPU_KERNEL_NS=0
    SOFTGPU_KERNELS=${programs}/libhost_kernels.so)
# What never ends is counted at the exit, which does not wait for long.
foreach(runner softgpu rocm7)
  hsa_trace_test(hsa_copies_hang ${runner} "--own-copies @out --copies-missed 2"
    ${hsa_dir}/hsa_copies 1 10 hang ENV RTL_HSA_EXIT_MS=300)
  hsa_trace_test(hsa_copies_lite ${runner} "--own-copies @out --lite" ${hsa_dir}/hsa_copies
    ENV RTL_MODE=lite)
endforeach()
# What lite leaves alone is counted.
hsa_trace_test(lite softgpu "--missed 3000" ${programs}/hsa_dispatch -n 3000
  ENV RTL_MODE=lite)
# Few slots: what there is no slot for is counted, and the program runs as before.
hsa_trace_test(few_slots softgpu "--missed 12000" ${programs}/hsa_dispatch -n 3000 -S -t 4
  ENV RTL_HSA_SLOTS=64)
# A slow subscriber costs time, and nothing else.
hsa_trace_test(slow_subscriber softgpu "" ${programs}/hsa_dispatch -n 3000 -t 2
  ENV "HSA_DUMP=&delay_us=100")
# One that is too slow at the end costs events, which are counted, and is not waited for. The runtime of
# ROCm 7 ends once only on the software GPU.
hsa_trace_test(late_subscriber softgpu "--unnamed --late" ${hsa_dir}/hsa_late
  ENV "HSA_DUMP=&delay_us=20000" RTL_BUFFER_SIZE=64k RTL_BUFFER_TOTAL=256M RTL_HSA_EXIT_MS=0 RTL_HSA_WAIT_MS=500)

# A program that is killed while the collector has stood still for long.
add_test(NAME integration.hsa.softgpu.lag COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hsa_lag.py)
set_tests_properties(integration.hsa.softgpu.lag PROPERTIES LABELS softgpu TIMEOUT 120
  SKIP_RETURN_CODE 77 ENVIRONMENT "RTL_BUILD_DIR=${PROJECT_BINARY_DIR}")

# Where the harvester is stuck inside of the runtime at its end, the program is not: it ends, begins
# again, and ends.
add_library(hsa_stuck MODULE hsa_stuck.c ${PROJECT_SOURCE_DIR}/streams/hsa/runtime/table.c)
target_include_directories(hsa_stuck SYSTEM PRIVATE ${RTL_HSA_INCLUDE_DIR})
target_link_libraries(hsa_stuck PRIVATE rtl_settings rtl_shared_settings)
set_target_properties(hsa_stuck PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${hsa_dir})
add_test(NAME integration.hsa.softgpu.stuck COMMAND timeout 45
  ${CMAKE_CURRENT_SOURCE_DIR}/../softgpu/run ${hsa_dir}/hsa_late 50)
set_tests_properties(integration.hsa.softgpu.stuck PROPERTIES LABELS softgpu TIMEOUT 60
  PASS_REGULAR_EXPRESSION "hsa_late: ok" ENVIRONMENT
  "RTL_BUILD_DIR=${PROJECT_BINARY_DIR};RTL_HSA_EXIT_MS=0;RTL_SUBSCRIBERS=${hsa_dir}/libhsa_dump_sub.so;HSA_TOOLS_LIB=${hsa_dir}/libhsa_stuck.so $<TARGET_FILE:rtl_rocm>")

# Other tools that make intercept queues themselves, loaded before and after the collector, and
# the collector loaded twice: every dispatch once, with its times.
foreach(tool pass_on profiler twice)
  if(tool STREQUAL pass_on)
    set(library ${PROJECT_BINARY_DIR}/tests/bench/libdispatch_pass_on.so)
  elseif(tool STREQUAL profiler)
    set(library ${hsa_dir}/libhsa_profiler.so)
  else()
    set(library $<TARGET_FILE:rtl_rocm>)
  endif()
  foreach(place before after)
    string(TOUPPER HSA_${place} variable)
    hsa_trace_both(${tool}_${place} "" threads ENV ${variable}=${library})
    foreach(runner softgpu rocm7)
      hsa_trace_test(signals_${tool}_${place} ${runner} "--unnamed --own @out"
        ${hsa_dir}/hsa_signals ENV ${variable}=${library})
    endforeach()
  endforeach()
endforeach()
# Where another tool has the runtime's own functions, its queues are counted as missed.
foreach(runner softgpu rocm7)
  hsa_trace_test(profiler_late ${runner} "--unnamed --blind 1" ${hsa_dir}/hsa_signals
    ENV HSA_BEFORE=${hsa_dir}/libhsa_profiler.so HSA_PROFILER_LATE=1
      "HSA_SAID=another tool has made it")
endforeach()
# Profiling stays enabled, whoever asks for what.
foreach(runner softgpu rocm7)
  hsa_trace_test(signals_profiler_off ${runner} "--unnamed --own @out" ${hsa_dir}/hsa_signals
    ENV HSA_AFTER=${hsa_dir}/libhsa_profiler.so HSA_PROFILER_OFF=1)
  hsa_trace_test(profiling_off ${runner} --unnamed ${hsa_dir}/hsa_signals 300 off)
endforeach()

# Code objects and kernels; scopes.
foreach(runner softgpu rocm7)
  foreach(what modules scopes)
    set(test integration.hsa.${runner}.${what})
    add_test(NAME ${test} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hsa_${what} ${runner})
    set_tests_properties(${test} PROPERTIES LABELS ${runner} TIMEOUT 300 SKIP_RETURN_CODE 77
      ENVIRONMENT "RTL_BUILD_DIR=${PROJECT_BINARY_DIR}")
  endforeach()
endforeach()

# Ways in: preloaded, with HSA_AMD_TOOL_PRIORITY, alone and with HSA_TOOLS_LIB as well; by the real
# librocprofiler-register, alone, with HSA_TOOLS_LIB as well, and beside a tool of rocprofiler-sdk's
# kind; and a second copy of the library. Each dispatch is there once. 5.2.3 has neither.
foreach(name hsa_register hsa_sdk)
  add_library(${name} MODULE ${name}.c)
  target_link_libraries(${name} PRIVATE rtl_settings rtl_shared_settings ${CMAKE_DL_LIBS})
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${hsa_dir})
endforeach()
set(register ${hsa_dir}/libhsa_register.so)
set(kernels SOFTGPU_KERNELS=${programs}/libhost_kernels.so)
foreach(tools "" $<TARGET_FILE:rtl_rocm>)
  set(suffix ${tools})
  list(TRANSFORM suffix REPLACE ".+" _and_named)
  hsa_trace_test(preloaded${suffix} rocm7 "" ${programs}/rocm7/threads
    ENV HSA_TOOLS=${tools} HSA_PRELOAD=$<TARGET_FILE:rtl_rocm> ${kernels})
endforeach()
hsa_trace_test(registered rocm7 "--own @out" ${programs}/rocm7/hsa_dispatch -n 500 -r 3 -v
  ENV HSA_TOOLS=${register} ROCPROFILER_REGISTER_LIBRARY=$<TARGET_FILE:rtl_rocm> ${kernels})
hsa_trace_test(registered_and_named rocm7 "" ${programs}/rocm7/threads
  ENV HSA_BEFORE=${register} ROCPROFILER_REGISTER_LIBRARY=$<TARGET_FILE:rtl_rocm> ${kernels})
hsa_trace_test(registered_beside_sdk rocm7 "" ${programs}/rocm7/threads
  ENV HSA_TOOLS=${register} "HSA_PRELOAD=$<TARGET_FILE:rtl_rocm>:${hsa_dir}/libhsa_sdk.so"
    "HSA_MARK=hsa 1" ${kernels})
# The runtime ends and begins again, which that of ROCm 7 cannot on the software GPU.
hsa_trace_test(registered_again softgpu "--unnamed" ${hsa_dir}/hsa_again
  ENV HSA_TOOLS=${register} HSA_REGISTER_DIRECT=$<TARGET_FILE:rtl_rocm> RTL_HSA_SLOTS=4096)
# It begins in one thread while it ends in another.
hsa_trace_test(begin_end softgpu "--unnamed" ${hsa_dir}/hsa_begin_end)
add_test(NAME integration.hsa.softgpu.begin_end_registered
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/../softgpu/run ${hsa_dir}/hsa_begin_end 300)
set_tests_properties(integration.hsa.softgpu.begin_end_registered PROPERTIES LABELS softgpu TIMEOUT 300
  PASS_REGULAR_EXPRESSION "hsa_begin_end: ok" ENVIRONMENT
  "RTL_BUILD_DIR=${PROJECT_BINARY_DIR};RTL_MODE=full;HSA_TOOLS_LIB=${register};HSA_REGISTER_DIRECT=$<TARGET_FILE:rtl_rocm>;RTL_SUBSCRIBERS=${hsa_dir}/libhsa_dump_sub.so?output=/dev/null")
hsa_trace_both(two_copies "" threads ENV HSA_COPY=1)

# Queues of each kind; extended dispatches; barriers as events in mode full only. And by descriptors,
# as newer runtimes have them: one queue, which gets one packet, cannot be intercepted.
add_library(hsa_newer MODULE hsa_newer.c ${PROJECT_SOURCE_DIR}/streams/hsa/runtime/table.c)
target_include_directories(hsa_newer PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_include_directories(hsa_newer SYSTEM PRIVATE ${RTL_HSA_INCLUDE_DIR})
target_link_libraries(hsa_newer PRIVATE rtl_settings rtl_shared_settings ${CMAKE_DL_LIBS})
set_target_properties(hsa_newer PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${hsa_dir})
foreach(runner softgpu rocm7)
  hsa_trace_test(queues_of_each_kind ${runner} "--unnamed" ${hsa_dir}/hsa_queues)
  hsa_trace_test(barriers ${runner} "--unnamed --barriers 604" ${hsa_dir}/hsa_queues
    ENV RTL_MODE=full)
  hsa_trace_test(descriptors ${runner} "--unnamed --missed 1 --barriers 1500"
    ${hsa_dir}/hsa_queues ENV RTL_MODE=full HSA_TOOLS=${hsa_dir}/libhsa_newer.so
    HSA_NEWER=${hsa_dir}/libhsa_newer.so HSA_NEWER_TOOL=$<TARGET_FILE:rtl_rocm>
    "HSA_SAID=its descriptor asks for more")
endforeach()

# Kernels that hang, fault, or are no code.
foreach(case softgpu:vm:wait softgpu:vm:leave softgpu:ill:wait softgpu:hang:leave softgpu:hang:wait
    rocm7:hang:leave rocm7:hang:wait)
  string(REPLACE ":" ";" case ${case})
  list(GET case 0 runner)
  list(JOIN case "." name)
  add_test(NAME integration.hsa_faults.${name}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hsa_faults ${case})
  set_tests_properties(integration.hsa_faults.${name} PROPERTIES LABELS ${runner} TIMEOUT 300
    SKIP_RETURN_CODE 77 ENVIRONMENT "RTL_BUILD_DIR=${PROJECT_BINARY_DIR}")
endforeach()
