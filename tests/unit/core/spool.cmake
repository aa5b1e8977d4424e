# SPDX-License-Identifier: MIT
# Damaged spools: real ones, read by a subscriber that reads all there is.
find_package(Threads REQUIRED)

add_library(read_all_sub MODULE ${PROJECT_SOURCE_DIR}/tests/fuzz/read_all_sub.c)
target_link_libraries(read_all_sub PRIVATE rtl_settings rtl_shared_settings)
set_target_properties(read_all_sub PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/probe)

function(rtl_spool_test name)
  rtl_unit_test(${name} ${name}.c test_spool_kit.c ${PROJECT_SOURCE_DIR}/tests/fuzz/real_spool.c
    ${ARGN} LIBS rtl Threads::Threads DEFINES READ_ALL_SUB="$<TARGET_FILE:read_all_sub>"
    DEPENDS read_all_sub)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/core/base ${PROJECT_SOURCE_DIR}/core/format)
endfunction()

rtl_spool_test(test_spool)
rtl_spool_test(test_spool_wild)
# They read what a process left behind, in one thread.
set_tests_properties(unit.test_spool PROPERTIES LABELS "unit;slow" COST 100)
set_tests_properties(unit.test_spool_wild PROPERTIES LABELS unit)

rtl_spool_test(test_segments)
target_compile_definitions(test_segments PRIVATE PROBE_SUB="$<TARGET_FILE:probe_sub>")
set_target_properties(test_segments PROPERTIES ENABLE_EXPORTS ON) # probe_hooks
add_dependencies(test_segments probe_sub)
