# SPDX-License-Identifier: MIT
# Scopes, stash, spans, regions and their guards in C++: scenarios in processes of their own.
rtl_scenarios(test_scope_child test_scope_child.c test_scope_events.c test_scope_guards.cpp)
set_target_properties(test_scope_child PROPERTIES CXX_STANDARD 11)

rtl_unit_test(test_scope test_scope.c ${rtl_unit_kit}/test_bus_run.c
  DEFINES PROBE_SUB="$<TARGET_FILE:probe_sub>" BUS_CHILD="$<TARGET_FILE:test_scope_child>"
  DEPENDS probe_sub test_scope_child)
