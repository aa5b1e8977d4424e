# SPDX-License-Identifier: MIT
# The exercise of CONTRIBUTING.md, followed. Once: with gcc, as its preset says.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND AND NOT RTL_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  add_test(NAME integration.contributing COMMAND Python3::Interpreter -B
    ${CMAKE_CURRENT_LIST_DIR}/contributing.py ${PROJECT_SOURCE_DIR})
  set_tests_properties(integration.contributing PROPERTIES LABELS "unit;slow" TIMEOUT 600
    SKIP_RETURN_CODE 77)
endif()
