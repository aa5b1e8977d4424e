# SPDX-License-Identifier: MIT
# scope.h and scope.hpp: scenarios in processes of their own, as those of the bus (core.cmake).
add_executable(test_scope_child
  test_bus_child.c test_scope_child.c test_scope_events.c test_scope_guards.cpp)
target_link_libraries(test_scope_child PRIVATE rtl_settings rtl Threads::Threads)
set_target_properties(test_scope_child PROPERTIES ENABLE_EXPORTS ON CXX_STANDARD 11) # probe_hooks

rtl_unit_test(test_scope test_scope.c test_bus_run.c
  DEFINES PROBE_SUB="$<TARGET_FILE:probe_sub>" BUS_CHILD="$<TARGET_FILE:test_scope_child>"
  DEPENDS probe_sub test_scope_child)

add_test(NAME unit.test_scope_headers COMMAND ${CMAKE_CURRENT_LIST_DIR}/test_scope_headers.sh
  ${PROJECT_SOURCE_DIR}/include ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER})
set_tests_properties(unit.test_scope_headers PROPERTIES LABELS "unit;abi" TIMEOUT 600)
