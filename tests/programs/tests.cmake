# SPDX-License-Identifier: MIT
# The programs untraced, as the tests of the tracer run them traced: what these tests find
# is a fault of a program, of a software GPU or of ROCm.

set(softgpu_run ${PROJECT_SOURCE_DIR}/tests/softgpu/run)

if(NOT TARGET softgpu_kfd)
  message(STATUS "tests/programs: not tested, the software GPU is not built")
  rtl_test(programs.softgpu softgpu sh -c "echo 'SKIPPED: the test programs need the software GPU'; exit 77")
  return()
endif()

# Checked: all kernels run, so nothing may be left unchecked.
set(checked_line ": ok [^(]*$")
set(unchecked_line ": ok .*not checked")
set(wrong_line ": FAILED: .*(differs|did not see)")

# programs_softgpu_test(NAME STATUS PATTERN GPUS HOST_KERNELS PROGRAM [ARGS...])
# HOST_KERNELS: name of their library, or none
function(programs_softgpu_test name status pattern gpus host_kernels program)
  set(environment RTL_BUILD_DIR=${PROJECT_BINARY_DIR} SOFTGPU_COUNT=${gpus})
  if(NOT host_kernels STREQUAL none)
    list(APPEND environment SOFTGPU_KERNELS=$<TARGET_FILE:${host_kernels}>)
  endif()
  rtl_test(programs.${name} softgpu ${CMAKE_CURRENT_SOURCE_DIR}/expect ${status} ${pattern} ${softgpu_run}
    ${programs_dir}/${program} ${ARGN} ENV "${environment}")
endfunction()

# The same with ROCm 6 or 7
function(programs_rocm_test rocm name status pattern gpus host_kernels program)
  set(environment RTL_BUILD_DIR=${PROJECT_BINARY_DIR} SOFTGPU_COUNT=${gpus})
  if(NOT host_kernels STREQUAL none)
    list(APPEND environment SOFTGPU_KERNELS=$<TARGET_FILE:${host_kernels}>)
  endif()
  set(retry)
  if(program STREQUAL fork_exec)
    set(retry ${PROJECT_SOURCE_DIR}/tests/rocm7/retry)
  endif()
  rtl_test(programs.rocm${rocm}.${name} rocm${rocm} ${retry} ${CMAKE_CURRENT_SOURCE_DIR}/expect ${status}
    ${pattern} ${PROJECT_SOURCE_DIR}/tests/rocm${rocm}/run ${programs${rocm}_dir}/${program} ${ARGN} ENV
    "${environment}")
endfunction()

# Right on one GPU and on two, and told to be wrong when the kernels are
foreach(program vector_add streams_events module_launch graph_launch copies threads fork_exec
    timing hsa_dispatch exit_ways)
  programs_softgpu_test(${program}.1gpu 0 ${checked_line} 1 host_kernels ${program})
  programs_softgpu_test(${program}.2gpu 0 ${checked_line} 2 host_kernels ${program})
  programs_softgpu_test(${program}.wrong 1 ${wrong_line} 2 host_kernels_wrong ${program})
  programs_softgpu_test(${program}.unchecked 0 ${unchecked_line} 1 none ${program})
endforeach()
foreach(program two_gpus spin_pair)
  programs_softgpu_test(${program}.1gpu 77 ": SKIPPED: there is one GPU" 1 host_kernels ${program})
  programs_softgpu_test(${program}.2gpu 0 ${checked_line} 2 host_kernels ${program})
  programs_softgpu_test(${program}.wrong 1 ${wrong_line} 2 host_kernels_wrong ${program})
  programs_softgpu_test(${program}.unchecked 0 ${unchecked_line} 2 none ${program})
endforeach()

# What hangs is ended by itself, in time.
programs_softgpu_test(hang_guard 142 "^$" 1 host_kernels faulty wait)
set_property(TEST programs.hang_guard APPEND PROPERTY ENVIRONMENT TEST_HANG_S=2
  SOFTGPU_FAULT=hang:bad_kernel)

# Arguments
programs_softgpu_test(vector_add.none 0 ${checked_line} 1 host_kernels vector_add 1 0)
programs_softgpu_test(streams_events.many 0 ${checked_line} 2 host_kernels streams_events 12 50)
programs_softgpu_test(threads.many 0 ": ok .*devices=2 [^(]*$" 2 host_kernels threads 4 100000)
programs_softgpu_test(threads.sync 0 ${checked_line} 2 host_kernels threads 8 2000 10)
programs_softgpu_test(fork_exec.forks 0 ${checked_line} 2 host_kernels fork_exec forks)
programs_softgpu_test(timing.print 0 "^within 4 [0-9.]+ ms$" 1 host_kernels timing 5 print)
programs_softgpu_test(copies.peer 0 ": ok .*peer=yes$" 2 host_kernels copies 100000)
programs_softgpu_test(copies.one_byte 0 ${checked_line} 2 host_kernels copies 1)
programs_softgpu_test(hsa_dispatch.batches 0 ${checked_line} 2 host_kernels
  hsa_dispatch -n 20000 -b 64 -t 3)
programs_softgpu_test(hsa_dispatch.barriers 0 ${checked_line} 2 host_kernels
  hsa_dispatch -n 5000 -b 16 -B 3 -u -t 2)
programs_softgpu_test(hsa_dispatch.queues 0 ${checked_line} 2 host_kernels
  hsa_dispatch -n 50 -r 40 -t 2)
programs_softgpu_test(hsa_dispatch.small_queue 0 ${checked_line} 1 host_kernels
  hsa_dispatch -n 3000 -s 64 -b 32 -B 5)
programs_softgpu_test(hsa_dispatch.no_signals 0 ${checked_line} 2 host_kernels
  hsa_dispatch -n 20000 -S -b 8 -B 100 -t 2)
programs_softgpu_test(hsa_dispatch.no_profile 0 "kernel_ms=0.000$" 1 host_kernels hsa_dispatch -P)
programs_softgpu_test(hsa_dispatch.one_queue 0 ${checked_line} 1 host_kernels
  hsa_dispatch -n 5000 -m -t 4 -b 3 -B 7)
programs_softgpu_test(hsa_dispatch.print 0 "^time 0 2 [0-9]+ [0-9]+$" 1 host_kernels
  hsa_dispatch -n 3 -v)

# Ends: the status, or 128 + the signal
set(exit_ways return:3 exit:3 _exit:3 thread_exit:3 static_dtor:3 abort:134 segv:139 kill9:137
  term:143)
foreach(end ${exit_ways})
  string(REGEX MATCH "^(.*):(.*)$" end ${end})
  foreach(sync sync nosync)
    programs_softgpu_test(exit_ways.${CMAKE_MATCH_1}.${sync} ${CMAKE_MATCH_2} ${checked_line} 1
      host_kernels exit_ways ${CMAKE_MATCH_1} 1000 ${sync} 3)
  endforeach()
endforeach()
programs_softgpu_test(exit_ways.static_dtor.calls 0 "ok in static destructors" 1 host_kernels
  exit_ways static_dtor)

foreach(rocm 6 7)
  if(NOT RTL_ROCM${rocm}_FOUND)
    message(STATUS "tests/programs: not tested with ROCm ${rocm}, tests/rocm${rocm}/fetch gets it")
    rtl_test(programs.rocm${rocm} rocm${rocm} sh -c
      "echo 'SKIPPED: ROCm ${rocm} is not there, tests/rocm${rocm}/fetch gets it'; exit 77")
    continue()
  endif()
  foreach(program vector_add streams_events module_launch graph_launch copies threads fork_exec
      timing hsa_dispatch two_gpus spin_pair)
    programs_rocm_test(${rocm} ${program} 0 ${checked_line} 2 host_kernels ${program})
    programs_rocm_test(${rocm} ${program}.wrong 1 ${wrong_line} 2 host_kernels_wrong ${program})
  endforeach()
  programs_rocm_test(${rocm} vector_add.unchecked 0 ${unchecked_line} 1 none vector_add)
  programs_rocm_test(${rocm} copies.peer 0 ": ok .*peer=yes$" 2 host_kernels copies 100000)
  programs_rocm_test(${rocm} hsa_dispatch.batches 0 ${checked_line} 1 host_kernels
    hsa_dispatch -n 5000 -b 64 -t 3)
  programs_rocm_test(${rocm} hsa_dispatch.barriers 0 ${checked_line} 1 host_kernels
    hsa_dispatch -n 2000 -b 16 -B 3 -u -t 2)
  programs_rocm_test(${rocm} hsa_dispatch.no_signals 0 ${checked_line} 1 host_kernels
    hsa_dispatch -n 5000 -S -b 8 -B 100)
  foreach(end ${exit_ways})
    string(REGEX MATCH "^(.*):(.*)$" end ${end})
    foreach(sync sync nosync)
      programs_rocm_test(${rocm} exit_ways.${CMAKE_MATCH_1}.${sync} ${CMAKE_MATCH_2} ${checked_line} 1
        host_kernels exit_ways ${CMAKE_MATCH_1} 200 ${sync} 3)
    endforeach()
  endforeach()
endforeach()

# A program whose last work HIP handles late ends well, each time (tests/rocm7/settle.cpp).
if(TARGET late_handlers)
  rtl_test(programs.rocm7.late_handlers rocm7 sh -c
    "for us in 500 2000 4000 6000 10000; do
    LATE_HANDLERS_US=$us $0 $1 child || exit; done"
    ${PROJECT_SOURCE_DIR}/tests/rocm7/run ${programs7_dir}/fork_exec ENV
    "HSA_TOOLS_LIB=$<TARGET_FILE:late_handlers>")
endif()
