# SPDX-License-Identifier: MIT
# The SQLite subscriber, as it is installed, in a fake host.
if(TARGET sqlite_sub)
  find_package(SQLite3 REQUIRED)
  set(parts schema rows copies links generic output faults recover)
  if(NOT RTL_SANITIZE) # an allocator of its own
    list(APPEND parts memory)
  endif()
  foreach(part ${parts})
    rtl_unit_test(test_sqlite_${part} test_sqlite_${part}.c test_sqlite_common.c
      LIBS fake_host SQLite::SQLite3
      DEFINES SQLITE_SUB_FILE="$<TARGET_FILE:sqlite_sub>"
        SQLITE_DOCUMENT="${PROJECT_SOURCE_DIR}/docs/sqlite.md"
      DEPENDS sqlite_sub)
  endforeach()
  if(TARGET test_sqlite_memory)
    set_target_properties(test_sqlite_memory PROPERTIES ENABLE_EXPORTS ON)
    set_tests_properties(unit.test_sqlite_memory PROPERTIES LABELS "unit;stress")
    # The compiler must not take the allocator's functions for the built-in ones.
    target_compile_options(test_sqlite_memory PRIVATE -fno-builtin)
  endif()
endif()
