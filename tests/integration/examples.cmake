# SPDX-License-Identifier: MIT
# docs/examples, built by the lines at their tops against an installed rtl. Not with sanitizers:
# the examples have none.
find_package(Python3 COMPONENTS Interpreter)
if(NOT RTL_SANITIZE AND TARGET sqlite_sub AND TARGET rtl_cli AND Python3_FOUND)
  add_test(NAME integration.examples COMMAND Python3::Interpreter -B
    ${CMAKE_CURRENT_LIST_DIR}/examples.py -v)
  set_tests_properties(integration.examples PROPERTIES LABELS unit TIMEOUT 300
    ENVIRONMENT "RTL_BUILD_DIR=${PROJECT_BINARY_DIR};RTL_CC=${CMAKE_C_COMPILER}")
endif()
