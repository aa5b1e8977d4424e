# SPDX-License-Identifier: MIT
# The HIP collector: a library that stands in for HIP and notes what it gets, then the real ones on
# the software GPU. Tests for ROCm 7 skip themselves where it has not been fetched. Not with
# sanitizers: their runtimes must be loaded before what is preloaded.
if(NOT TARGET rtl_rocm OR RTL_SANITIZE)
  return()
endif()
include(${PROJECT_SOURCE_DIR}/tests/cmake/HipProgram.cmake)
set(hip_source ${PROJECT_SOURCE_DIR}/streams/hip)
set(hip_dir ${PROJECT_BINARY_DIR}/tests/integration)
set(hip_compare ${CMAKE_CURRENT_SOURCE_DIR}/hip_compare.py)

# A subscriber that writes text.
add_library(hip_dump_sub MODULE hip_dump.c)
target_link_libraries(hip_dump_sub PRIVATE rtl_settings rtl_shared_settings)
set_target_properties(hip_dump_sub PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${hip_dir})

# hip_test(NAME COMMAND... [LABEL ...] [ENV ...])
function(hip_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL" "ENV")
  add_test(NAME integration.hip.${name} COMMAND ${arg_UNPARSED_ARGUMENTS})
  set_tests_properties(integration.hip.${name} PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77
    ENVIRONMENT "RTL_BUILD_DIR=${PROJECT_BINARY_DIR};${arg_ENV}")
  if(arg_LABEL)
    set_tests_properties(integration.hip.${name} PROPERTIES LABELS ${arg_LABEL})
  endif()
endfunction()

# Everything that the libraries export is intercepted, or in the list with the reason.
file(GLOB hip_libraries /usr/lib/x86_64-linux-gnu/libamdhip64.so.5
  /opt/rocm/lib/libamdhip64.so)
if(hip_libraries)
  list(GET hip_libraries 0 hip_library)
  hip_test(symbols ${CMAKE_CURRENT_SOURCE_DIR}/hip_symbols $<TARGET_FILE:rtl_rocm>
    ${hip_source}/functions.def ${hip_library})
endif()
if(RTL_ROCM7_FOUND)
  hip_test(symbols_rocm7 ${CMAKE_CURRENT_SOURCE_DIR}/hip_symbols $<TARGET_FILE:rtl_rocm>
    ${hip_source}/functions.def ${RTL_ROCM7_LIBRARY_DIR}/libamdhip64.so.7
    ${RTL_ROCM7_LIBRARY_DIR}/libhiprtc.so.7)
endif()

# Arguments and results go through every wrapper as they came. On x86-64, whose calling convention
# the test knows.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_library(hip_fake SHARED hip_fake.c ${hip_source}/functions.c)
  target_link_libraries(hip_fake PRIVATE rtl_settings)
  add_executable(hip_forward hip_forward.c ${hip_source}/functions.c)
  target_link_libraries(hip_forward PRIVATE rtl_settings -Wl,--no-as-needed hip_fake
    ${CMAKE_DL_LIBS})
  foreach(target hip_fake hip_forward)
    target_include_directories(${target} PRIVATE ${hip_source})
    set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${hip_dir}
      RUNTIME_OUTPUT_DIRECTORY ${hip_dir})
  endforeach()
  hip_test(forward_bare ${hip_dir}/hip_forward bare)
  hip_test(forward ${CMAKE_CURRENT_SOURCE_DIR}/hip_trace none ${hip_compare}
    ${hip_dir}/hip_forward)
  hip_test(forward_begins ${CMAKE_CURRENT_SOURCE_DIR}/hip_trace none ${hip_compare}
    ${hip_dir}/hip_forward ENV "HIP_DUMP=&begin=1")
  hip_test(forward_args ${CMAKE_CURRENT_SOURCE_DIR}/hip_trace none "${hip_compare} --args"
    ${hip_dir}/hip_forward ENV "HIP_DUMP=&args=1")
  hip_test(forward_args_begins ${CMAKE_CURRENT_SOURCE_DIR}/hip_trace none "${hip_compare} --args"
    ${hip_dir}/hip_forward ENV "HIP_DUMP=&args=1&begin=1")
endif()

# roctx: without a library, and with that of ROCm 7.
set(roctx_compare ${CMAKE_CURRENT_SOURCE_DIR}/roctx_compare.py)
add_executable(roctx_calls roctx_calls.c)
target_link_libraries(roctx_calls PRIVATE rtl_settings pthread ${CMAKE_DL_LIBS})
set_target_properties(roctx_calls PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${hip_dir})
hip_test(roctx ${CMAKE_CURRENT_SOURCE_DIR}/hip_trace none ${roctx_compare} ${hip_dir}/roctx_calls)
hip_test(roctx_recorded ${CMAKE_CURRENT_SOURCE_DIR}/hip_recorded none
  ${CMAKE_CURRENT_SOURCE_DIR}/roctx_database.py "rtl.roctx" ${hip_dir}/roctx_calls
  ENV "HIP_SUMMARY=^Ranges: [0-9]+, ")
if(RTL_ROCM7_FOUND)
  add_executable(roctx_calls_rocm7 roctx_calls.c)
  target_link_libraries(roctx_calls_rocm7 PRIVATE rtl_settings -Wl,--no-as-needed
    -L${RTL_ROCM7_LIBRARY_DIR} -l:libroctx64.so.4 ${RTL_ROCM7_LINK_OPTIONS})
  set_target_properties(roctx_calls_rocm7 PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${hip_dir})
  hip_test(rocm7.roctx ${CMAKE_CURRENT_SOURCE_DIR}/hip_trace rocm7 ${roctx_compare}
    ${hip_dir}/roctx_calls_rocm7 library LABEL rocm7)
  # alone, the library returns what it returns with us before it
  hip_test(rocm7.roctx_bare ${CMAKE_CURRENT_SOURCE_DIR}/../rocm7/run
    ${hip_dir}/roctx_calls_rocm7 library LABEL rocm7)
  hip_test(symbols_roctx ${CMAKE_CURRENT_SOURCE_DIR}/hip_symbols $<TARGET_FILE:rtl_rocm>
    ${PROJECT_SOURCE_DIR}/streams/roctx/excluded.def ${RTL_ROCM7_LIBRARY_DIR}/libroctx64.so.4)
endif()

if(NOT RTL_HIPCC)
  return()
endif()
set(hip_kernels ${PROJECT_BINARY_DIR}/tests/programs/libhost_kernels.so)

# hip_both(NAME COMPARE PROGRAM ARGUMENTS... [ENV ...]): with each ROCm
function(hip_both name compare program)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "ENV")
  foreach(runner softgpu rocm7)
    set(folder ${RTL_HIP5_DIR})
    if(runner STREQUAL rocm7)
      if(NOT RTL_ROCM7_FOUND)
        continue()
      endif()
      set(folder ${RTL_HIP7_DIR})
    endif()
    hip_test(${runner}.${name} ${CMAKE_CURRENT_SOURCE_DIR}/hip_trace ${runner} ${compare}
      ${folder}/${program} ${arg_UNPARSED_ARGUMENTS} LABEL ${runner}
      ENV SOFTGPU_KERNELS=${hip_kernels} ${arg_ENV})
  endforeach()
endfunction()

# What a program says it called is what the trace has, call by call.
rtl_hip_program(hip_calls hip_calls.hip
  DEPENDS ${PROJECT_SOURCE_DIR}/tests/programs/hang_guard.h)
hip_both(calls ${hip_compare} hip_calls)
hip_both(calls_begins ${hip_compare} hip_calls ENV "HIP_DUMP=&begin=1")
hip_both(calls_threads ${hip_compare} hip_calls 4)
hip_both(calls_args "${hip_compare} --args" hip_calls ENV "HIP_DUMP=&args=1&begin=1")

# A library that brings HIP with it, seen by itself alone.
add_library(hip_user MODULE hip_user.c)
target_link_libraries(hip_user PRIVATE rtl_settings ${hip_library})
add_executable(hip_local hip_local.c)
target_link_libraries(hip_local PRIVATE rtl_settings ${CMAKE_DL_LIBS})
add_executable(hip_missing hip_missing.c)
target_link_libraries(hip_missing PRIVATE rtl_settings)
set_target_properties(hip_user hip_local hip_missing PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${hip_dir} RUNTIME_OUTPUT_DIRECTORY ${hip_dir})
hip_test(softgpu.local ${CMAKE_CURRENT_SOURCE_DIR}/hip_trace softgpu ${hip_compare}
  ${hip_dir}/hip_local ${hip_dir}/libhip_user.so LABEL softgpu)
# Ways around what is preloaded are said.
hip_test(softgpu.deepbind ${CMAKE_CURRENT_SOURCE_DIR}/hip_trace softgpu "grep -q ^dispatch.*fillBuffer"
  ${hip_dir}/hip_local ${hip_dir}/libhip_user.so deepbind LABEL softgpu
  ENV "HIP_SAID=libhip_user.so calls HIP past rtl, as it was loaded with RTLD_DEEPBIND")
hip_test(softgpu.namespace ${CMAKE_CURRENT_SOURCE_DIR}/hip_trace softgpu "grep -q ^dispatch.*fillBuffer"
  ${hip_dir}/hip_local ${hip_dir}/libhip_user.so namespace LABEL softgpu
  ENV RTL_MODE_FALLBACK=1 "HIP_SAID=loaded HIP in a namespace of its own")
hip_test(softgpu.namespace_only ${CMAKE_CURRENT_SOURCE_DIR}/hip_trace softgpu true
  ${hip_dir}/hip_local ${hip_dir}/libhip_user.so namespace LABEL softgpu
  ENV "HIP_SAID=RTL_MODE=hip cannot be had: the program has loaded HIP in a namespace")
# What HIP does not have ends the program as the loader would have.
hip_test(missing ${CMAKE_CURRENT_SOURCE_DIR}/hip_trace none true ${hip_dir}/hip_missing
  ENV HIP_STATUS=127 "HIP_SAID=calls hipStreamGetId, which its HIP does not have")
add_executable(hip_static hip_static.c)
target_compile_options(hip_static PRIVATE -fno-pie)
target_link_options(hip_static PRIVATE -static -no-pie)
set_target_properties(hip_static PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${hip_dir})
add_executable(hip_asan hip_static.c)
target_compile_options(hip_asan PRIVATE -fsanitize=address)
target_link_options(hip_asan PRIVATE -fsanitize=address)
set_target_properties(hip_asan PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${hip_dir})
hip_test(never ${CMAKE_CURRENT_SOURCE_DIR}/hip_never ${hip_dir}/hip_static ${hip_dir}/hip_asan)

# A program that finds HIP's functions by dlsym in a library that it has loaded itself.
add_executable(hip_dlsym hip_dlsym.c)
target_link_libraries(hip_dlsym PRIVATE rtl_settings ${CMAKE_DL_LIBS})
hip_test(softgpu.dlsym ${CMAKE_CURRENT_SOURCE_DIR}/hip_trace softgpu ${hip_compare}
  ${hip_dir}/hip_dlsym ${hip_library} ${PROJECT_BINARY_DIR}/tests/programs/module_add.gfx906.co
  LABEL softgpu)
hip_test(softgpu.names ${CMAKE_CURRENT_SOURCE_DIR}/hip_names softgpu ${hip_dir}/hip_dlsym
  ${hip_library} ${PROJECT_BINARY_DIR}/tests/programs/module_add.gfx906.co LABEL softgpu)
if(RTL_ROCM7_FOUND)
  add_executable(hip_dlsym_rocm7 hip_dlsym.c)
  target_link_libraries(hip_dlsym_rocm7 PRIVATE rtl_settings ${CMAKE_DL_LIBS}
    ${RTL_ROCM7_LINK_OPTIONS})
  hip_test(rocm7.dlsym ${CMAKE_CURRENT_SOURCE_DIR}/hip_trace rocm7 ${hip_compare}
    ${hip_dir}/hip_dlsym_rocm7 ${RTL_ROCM7_LIBRARY_DIR}/libamdhip64.so.7
    ${PROJECT_BINARY_DIR}/tests/programs/rocm7/module_add.gfx942.co LABEL rocm7)
  hip_test(rocm7.names ${CMAKE_CURRENT_SOURCE_DIR}/hip_names rocm7 ${hip_dir}/hip_dlsym_rocm7
    ${RTL_ROCM7_LIBRARY_DIR}/libamdhip64.so.7
    ${PROJECT_BINARY_DIR}/tests/programs/rocm7/module_add.gfx942.co LABEL rocm7)
  set_target_properties(hip_dlsym_rocm7 PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${hip_dir})
endif()
# HIP's dispatch table, from the real librocprofiler-register: alone, and where we are preloaded as well.
if(RTL_ROCM7_FOUND)
  add_executable(hip_register hip_register.c)
  target_include_directories(hip_register PRIVATE ${hip_source})
  target_link_libraries(hip_register PRIVATE rtl_settings ${CMAKE_DL_LIBS}
    ${RTL_ROCM7_LINK_OPTIONS})
  set_target_properties(hip_register PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${hip_dir})
  set(register ${hip_dir}/hip_register ${RTL_ROCM7_LIBRARY_DIR}/libamdhip64.so.7
    ${PROJECT_BINARY_DIR}/tests/programs/rocm7/module_add.gfx942.co)
  hip_test(rocm7.register ${CMAKE_CURRENT_SOURCE_DIR}/hip_trace rocm7 ${hip_compare} ${register}
    LABEL rocm7 ENV HIP_PRELOAD= ROCPROFILER_REGISTER_LIBRARY=$<TARGET_FILE:rtl_rocm>)
  hip_test(rocm7.register_preloaded ${CMAKE_CURRENT_SOURCE_DIR}/hip_trace rocm7 ${hip_compare}
    ${register} both LABEL rocm7 ENV ROCPROFILER_REGISTER_LIBRARY=$<TARGET_FILE:rtl_rocm>)
endif()
foreach(number 1 2)
  add_library(hip_next_${number} SHARED hip_next.c)
  target_compile_definitions(hip_next_${number} PRIVATE HIP_NEXT_NUMBER=${number}
    HIP_NEXT_ASK=hip_next_ask_${number})
  target_compile_options(hip_next_${number} PRIVATE -Wno-missing-prototypes)
  target_link_libraries(hip_next_${number} PRIVATE rtl_settings ${CMAKE_DL_LIBS})
endforeach()
add_executable(hip_next_main hip_next_main.c)
target_link_libraries(hip_next_main PRIVATE rtl_settings -Wl,--no-as-needed hip_next_1 hip_next_2)
set_target_properties(hip_dlsym hip_next_1 hip_next_2 hip_next_main PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${hip_dir} RUNTIME_OUTPUT_DIRECTORY ${hip_dir})
hip_test(dlsym_next ${CMAKE_COMMAND} -E env LD_PRELOAD=$<TARGET_FILE:rtl_rocm>
  ${hip_dir}/hip_next_main)

# The same by `rtl trace --mode hip`, in the database.
foreach(runner softgpu rocm7)
  if(runner STREQUAL softgpu)
    set(folder ${RTL_HIP5_DIR})
  else()
    set(folder ${RTL_HIP7_DIR})
  endif()
  if(runner STREQUAL softgpu OR RTL_ROCM7_FOUND)
    hip_test(${runner}.recorded ${CMAKE_CURRENT_SOURCE_DIR}/hip_recorded ${runner}
      ${CMAKE_CURRENT_SOURCE_DIR}/hip_database.py "HIP calls" ${folder}/hip_calls 3 LABEL ${runner}
      ENV SOFTGPU_KERNELS=${hip_kernels} "HIP_SUMMARY=^failed: .*hipSetDevice 4")
  endif()
endforeach()

# What each call made the GPU do: links, against the GPU's log. With one queue for all streams, so that
# threads carry each other's packets.
set(hip_causes ${CMAKE_CURRENT_SOURCE_DIR}/hip_causes.py)
foreach(runner softgpu rocm7)
  set(program ${PROJECT_BINARY_DIR}/tests/programs/causes)
  if(runner STREQUAL rocm7)
    set(program ${PROJECT_BINARY_DIR}/tests/programs/rocm7/causes)
  endif()
  if(runner STREQUAL softgpu OR RTL_ROCM7_FOUND)
    hip_test(${runner}.causes ${CMAKE_CURRENT_SOURCE_DIR}/hip_recorded ${runner} ${hip_causes}
      "HIP calls" ${program} 4 20 LABEL ${runner} ENV CAUSES_SAY=1
      "HIP_SUMMARY=^Launch latency, from the call's begin to the GPU's: ")
    hip_test(${runner}.causes_shared ${CMAKE_CURRENT_SOURCE_DIR}/hip_recorded ${runner} ${hip_causes}
      "HIP calls" ${program} 4 100 LABEL ${runner} ENV CAUSES_SAY=1 GPU_MAX_HW_QUEUES=1)
    hip_test(${runner}.causes_indirect ${CMAKE_CURRENT_SOURCE_DIR}/hip_recorded ${runner}
      "${hip_causes} --unlinked" "HIP calls" ${program} 4 20 LABEL ${runner}
      ENV CAUSES_SAY=1 AMD_DIRECT_DISPATCH=0
      "HIP_SUMMARY=^GPU kernels: .*, [0-9]+ linked to no call")
    hip_test(${runner}.causes_full ${CMAKE_CURRENT_SOURCE_DIR}/hip_recorded ${runner} ${hip_causes}
      "HSA calls" ${program} 4 20 LABEL ${runner} ENV CAUSES_SAY=1 HIP_MODE=full)
    string(REPLACE causes streams_events streams_events ${program})
    hip_test(${runner}.order ${CMAKE_CURRENT_SOURCE_DIR}/hip_recorded ${runner}
      ${CMAKE_CURRENT_SOURCE_DIR}/hip_order.py "HIP calls" ${streams_events} LABEL ${runner})
    string(REPLACE causes paused program ${program})
    hip_test(${runner}.paused ${CMAKE_CURRENT_SOURCE_DIR}/hip_recorded ${runner}
      ${CMAKE_CURRENT_SOURCE_DIR}/hip_paused.py "HIP calls" ${program} LABEL ${runner})
    hip_test(${runner}.paused_full ${CMAKE_CURRENT_SOURCE_DIR}/hip_recorded ${runner}
      ${CMAKE_CURRENT_SOURCE_DIR}/hip_paused.py "HSA calls" ${program} LABEL ${runner}
      ENV HIP_MODE=full)
  endif()
endforeach()

# What is open when the process ends.
rtl_hip_program(hip_unfinished hip_unfinished.hip)
hip_test(softgpu.unfinished ${CMAKE_CURRENT_SOURCE_DIR}/hip_unfinished.py softgpu
  ${RTL_HIP5_DIR}/hip_unfinished LABEL softgpu)
if(RTL_ROCM7_FOUND)
  hip_test(rocm7.unfinished ${CMAKE_CURRENT_SOURCE_DIR}/hip_unfinished.py rocm7
    ${RTL_HIP7_DIR}/hip_unfinished LABEL rocm7)
endif()

hip_test(softgpu.default ${CMAKE_CURRENT_SOURCE_DIR}/hip_default softgpu
  ${PROJECT_BINARY_DIR}/tests/programs/vector_add LABEL softgpu)

# What a program has waited for is in the trace, however it ends at once.
# hip_sync_end(NAME RUNNER MODE ROUNDS KERNELS SYNC,... END...)
function(hip_sync_end name runner)
  hip_test(${runner}.sync_end_${name} ${CMAKE_CURRENT_SOURCE_DIR}/sync_end.py ${runner} ${ARGN}
    LABEL ${runner})
  set_tests_properties(integration.hip.${runner}.sync_end_${name} PROPERTIES TIMEOUT 300)
endfunction()
set(runners softgpu)
if(RTL_ROCM7_FOUND)
  list(APPEND runners rocm7)
endif()
foreach(runner ${runners})
  set(syncs stream,device,event,late,query,event_query,copy,free)
  hip_sync_end(standard ${runner} standard 3 1 ${syncs} abort)
  hip_sync_end(hip ${runner} hip 3 100 ${syncs} kill)
  foreach(name standard hip)
    set_tests_properties(integration.hip.${runner}.sync_end_${name} PROPERTIES LABELS "${runner};slow")
  endforeach()
  hip_sync_end(lite ${runner} lite 4 1 stream abort)
  hip_sync_end(full ${runner} full 4 1 stream abort)
  # Python's multiprocessing ends its children so; and other ways without a word, whoever has waited.
  hip_sync_end(in_process ${runner} hip-in-process 3 50 none _exit _Exit quick_exit)
  hip_sync_end(left ${runner} hip 4 50 none _exit _Exit quick_exit execv execve execvp execvpe execl
    execlp execle fexecve execveat vfork_exec handler spawn)
endforeach()
