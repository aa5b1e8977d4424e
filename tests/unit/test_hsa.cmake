# SPDX-License-Identifier: MIT
# The HSA collector's parts; they need the headers of the HSA runtime, no library.
if(NOT TARGET rtl_rocm)
  return()
endif()
include(${PROJECT_SOURCE_DIR}/tests/cmake/HipProgram.cmake)
set(hsa ${PROJECT_SOURCE_DIR}/streams/hsa)

# test_hsa_table: against the installed headers, and those of the fetched ROCm 7.
function(hsa_table_test name moved)
  add_executable(${name} test_hsa_table.cpp ${hsa}/runtime/table.c)
  target_link_libraries(${name} PRIVATE rtl_settings)
  target_compile_definitions(${name} PRIVATE HSA_TABLE_MOVED=${moved})
  target_include_directories(${name} SYSTEM BEFORE PRIVATE ${ARGN})
  add_test(NAME unit.${name} COMMAND ${name})
  set_tests_properties(unit.${name} PROPERTIES LABELS unit)
endfunction()

file(STRINGS ${RTL_HSA_INCLUDE_DIR}/hsa/hsa_api_trace.h moved
  REGEX "hsa_amd_memory_async_copy_on_engine_fn")
if(moved)
  hsa_table_test(test_hsa_table 1 ${RTL_HSA_INCLUDE_DIR})
else()
  hsa_table_test(test_hsa_table 0 ${RTL_HSA_INCLUDE_DIR})
endif()
if(RTL_ROCM7_FOUND)
  hsa_table_test(test_hsa_table_rocm7 1 ${RTL_ROCM7_INCLUDE_DIR} ${RTL_ROCM7_INCLUDE_DIR}/hsa)
endif()

# test_hsa_calls: the table of functions against the same headers.
function(hsa_calls_test name)
  set(checks ${CMAKE_CURRENT_BINARY_DIR}/${name}_checks.inc)
  set(wrappers ${CMAKE_CURRENT_BINARY_DIR}/${name}_wrappers.c)
  set(generator ${hsa}/generate_calls.py)
  add_custom_command(OUTPUT ${checks} ${wrappers}
    COMMAND Python3::Interpreter ${generator} checks ${hsa}/calls.table ${checks} ${ARGV1}
    COMMAND Python3::Interpreter ${generator} wrappers ${hsa}/calls.table ${wrappers}
    DEPENDS ${generator} ${hsa}/calls.table VERBATIM)
  add_executable(${name} test_hsa_calls.cpp ${checks} ${wrappers} ${hsa}/call_table.c)
  target_link_libraries(${name} PRIVATE rtl_settings)
  target_compile_features(${name} PRIVATE cxx_std_17)
  target_compile_definitions(${name} PRIVATE HSA_CALL_CHECKS="${checks}")
  target_include_directories(${name} PRIVATE ${hsa} ${hsa}/runtime)
  target_include_directories(${name} SYSTEM BEFORE PRIVATE ${ARGN})
  add_test(NAME unit.${name} COMMAND ${name})
  set_tests_properties(unit.${name} PROPERTIES LABELS unit)
endfunction()

find_package(Python3 REQUIRED COMPONENTS Interpreter)
hsa_calls_test(test_hsa_calls ${RTL_HSA_INCLUDE_DIR})
if(RTL_ROCM7_FOUND)
  hsa_calls_test(test_hsa_calls_rocm7 ${RTL_ROCM7_INCLUDE_DIR} ${RTL_ROCM7_INCLUDE_DIR}/hsa)
endif()

rtl_unit_test(test_hsa_slots test_hsa_slots.c ${hsa}/harvest/slots.c LIBS pthread)
rtl_unit_test(test_hsa_watch test_hsa_watch.c ${hsa}/harvest/signal_watch.c LIBS pthread)
rtl_unit_test(test_hsa_copies test_hsa_copies.c ${hsa}/harvest/signal_watch.c ${hsa}/submit/copy_batch.c LIBS pthread)
rtl_unit_test(test_hsa_kernel_table test_hsa_kernel_table.c ${hsa}/objects/kernel_table.c LIBS pthread)
rtl_unit_test(test_hsa_code_object test_hsa_code_object.c ${hsa}/objects/code_object.c ${hsa}/objects/msgpack.c)
rtl_unit_test(test_hsa_memory_table test_hsa_memory_table.c ${hsa}/objects/memory_table.c)
rtl_unit_test(test_hsa_config test_hsa_config.c ${hsa}/runtime/config.c)
foreach(test test_hsa_slots test_hsa_watch test_hsa_copies test_hsa_kernel_table)
  target_include_directories(${test} PRIVATE ${hsa}/runtime ${hsa}/objects ${hsa}/harvest ${hsa}/submit)
  target_include_directories(${test} SYSTEM PRIVATE ${RTL_HSA_INCLUDE_DIR})
endforeach()
