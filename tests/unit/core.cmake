# SPDX-License-Identifier: MIT
# Tests of core. The bus starts once in a process, so test_bus runs scenarios in processes of
# their own (test_bus_child), with the probe as their subscriber (probe.h).
find_package(Threads REQUIRED)
set(probe_folder ${CMAKE_CURRENT_BINARY_DIR}/probe)

add_library(probe_sub MODULE probe_sub.c)
target_link_libraries(probe_sub PRIVATE rtl_settings rtl_shared_settings ${CMAKE_DL_LIBS})
set_target_properties(probe_sub PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${probe_folder})

add_executable(test_bus_child
  test_bus_child.c test_bus_child_host.c test_bus_child_ids.c test_bus_child_lack.c test_bus_child_life.c
  test_bus_child_publish.c test_bus_child_signals.c test_bus_child_start.c test_bus_child_threads.c
  test_bus_child_ticks.c)
target_link_libraries(test_bus_child PRIVATE rtl_settings rtl Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(test_bus_child PROPERTIES ENABLE_EXPORTS ON) # probe_hooks

set(bus_defines PROBE_SUB="$<TARGET_FILE:probe_sub>" BUS_CHILD="$<TARGET_FILE:test_bus_child>"
  BUS_FAILING="$<TARGET_FILE:test_bus_failing>" BUS_DLOPENED="$<TARGET_FILE:test_bus_dlopened>")

# Registers a stream in its constructor.
add_library(test_bus_dlopened MODULE test_bus_dlopened.c)
target_link_libraries(test_bus_dlopened PRIVATE rtl_settings ${CMAKE_DL_LIBS})

# Makes librtl's allocations fail, by LD_PRELOAD; never sanitized, as it stands before malloc.
add_library(test_bus_failing MODULE test_bus_failing.c)
target_compile_definitions(test_bus_failing PRIVATE _GNU_SOURCE)
target_link_libraries(test_bus_failing PRIVATE ${CMAKE_DL_LIBS})

function(rtl_bus_test name)
  rtl_unit_test(${name} ${name}.c test_bus_run.c DEFINES ${bus_defines}
    DEPENDS probe_sub test_bus_child test_bus_failing test_bus_dlopened)
endfunction()

rtl_bus_test(test_bus_host)
rtl_bus_test(test_bus_life)
rtl_bus_test(test_bus_publish)
rtl_bus_test(test_bus_signals)
rtl_bus_test(test_bus_ticks)
foreach(which 1 2)
  add_library(test_ids_library_${which} MODULE test_ids_library.c)
  target_compile_definitions(test_ids_library_${which} PRIVATE WHICH=${which})
  target_link_libraries(test_ids_library_${which} PRIVATE rtl_settings)
  target_link_options(test_ids_library_${which} PRIVATE -Wl,--build-id)
endforeach()
rtl_unit_test(test_ids_recent test_ids_recent.c LIBS rtl ${CMAKE_DL_LIBS}
  DEFINES LIBRARY_A="$<TARGET_FILE:test_ids_library_1>" LIBRARY_B="$<TARGET_FILE:test_ids_library_2>"
  DEPENDS test_ids_library_1 test_ids_library_2)
rtl_unit_test(test_log test_log.c LIBS rtl_core)
rtl_unit_test(test_collector test_collector.c LIBS rtl)
rtl_unit_test(test_growth test_growth.c LIBS rtl)
rtl_unit_test(test_open test_open.c LIBS rtl Threads::Threads)
rtl_unit_test(test_recover test_recover.c LIBS rtl)
target_include_directories(test_recover PRIVATE ${PROJECT_SOURCE_DIR}/core/format)

rtl_unit_test(test_recorder test_recorder.c LIBS rtl Threads::Threads)

# ids.c stands in the test itself, with a hash of its own: see there.
rtl_unit_test(test_ids test_ids.c LIBS rtl_core)
target_include_directories(test_ids PRIVATE ${PROJECT_SOURCE_DIR}/core)
rtl_unit_test(test_args test_args.c)
rtl_unit_test(test_streams test_streams.c LIBS rtl Threads::Threads)
rtl_unit_test(test_clock test_clock.c LIBS rtl_core)
rtl_unit_test(test_machine test_machine.c LIBS rtl_core)

# The ABI: layouts, by compiling them; what librtl exports.
foreach(standard c_std_11 c_std_17)
  add_library(test_abi_${standard} OBJECT test_abi.c)
  target_compile_features(test_abi_${standard} PRIVATE ${standard})
endforeach()
set_target_properties(test_abi_c_std_11 PROPERTIES C_STANDARD 11)
add_library(test_abi_cpp OBJECT test_abi_cpp.cpp)
foreach(target test_abi_c_std_11 test_abi_c_std_17 test_abi_cpp)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(${target} PRIVATE -Wall -Wextra -pedantic -Werror)
endforeach()
add_test(NAME unit.test_abi_exports COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_abi_exports.sh
  ${PROJECT_SOURCE_DIR}/include $<TARGET_FILE:rtl> ${CMAKE_C_COMPILER})
set_tests_properties(unit.test_abi_exports PROPERTIES LABELS "unit;abi" TIMEOUT 600)
