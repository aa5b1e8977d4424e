# SPDX-License-Identifier: MIT
# The HIP collector's table, against the headers of HIP that are there.
if(NOT TARGET rtl_rocm)
  return()
endif()
include(${PROJECT_SOURCE_DIR}/tests/cmake/HipProgram.cmake)

function(hip_types_test name)
  add_executable(${name} test_hip_types.cpp)
  target_link_libraries(${name} PRIVATE rtl_settings)
  target_compile_definitions(${name} PRIVATE __HIP_PLATFORM_AMD__)
  target_include_directories(${name} SYSTEM BEFORE PRIVATE ${ARGN})
  add_test(NAME unit.${name} COMMAND ${name})
  set_tests_properties(unit.${name} PROPERTIES LABELS unit)
endfunction()

find_path(RTL_HIP_INCLUDE_DIR hip/hip_runtime_api.h PATHS /opt/rocm/include)
mark_as_advanced(RTL_HIP_INCLUDE_DIR)
if(RTL_HIP_INCLUDE_DIR)
  hip_types_test(test_hip_types ${RTL_HIP_INCLUDE_DIR})
endif()
if(RTL_ROCM7_FOUND)
  hip_types_test(test_hip_types_rocm7 ${RTL_ROCM7_INCLUDE_DIR})
endif()

add_test(NAME unit.hip_names COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_hip_names.py
  ${RTL_HIP_INCLUDE_DIR} ${RTL_ROCM7_INCLUDE_DIR})
set_tests_properties(unit.hip_names PROPERTIES LABELS unit)

if(RTL_ROCM7_FOUND)
  add_executable(test_hip_dispatch_table test_hip_dispatch_table.cpp)
  target_link_libraries(test_hip_dispatch_table PRIVATE rtl_settings)
  target_compile_definitions(test_hip_dispatch_table PRIVATE __HIP_PLATFORM_AMD__)
  target_include_directories(test_hip_dispatch_table SYSTEM BEFORE PRIVATE ${RTL_ROCM7_INCLUDE_DIR})
  add_test(NAME unit.test_hip_dispatch_table COMMAND test_hip_dispatch_table)
  set_tests_properties(unit.test_hip_dispatch_table PROPERTIES LABELS unit)
endif()

# The table is what the generator makes of the headers that it was made from; where they are not
# there in these versions the test is skipped, and says so.
add_test(NAME unit.hip_table COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_hip_table.sh)
set_tests_properties(unit.hip_table PROPERTIES LABELS unit SKIP_RETURN_CODE 77)

rtl_unit_test(test_roctx_ranges test_roctx_ranges.c
  ${PROJECT_SOURCE_DIR}/streams/roctx/ranges.c LIBS pthread)
rtl_unit_test(test_streams_text test_streams_text.c ${PROJECT_SOURCE_DIR}/streams/common/text.c)
