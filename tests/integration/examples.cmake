# SPDX-License-Identifier: MIT
# docs/examples, built by the lines at their tops against an installed rtl. Not with sanitizers:
# the examples have none.
find_package(Python3 COMPONENTS Interpreter)
if(NOT RTL_SANITIZE AND TARGET sqlite_sub AND TARGET rtl_cli AND Python3_FOUND)
  add_test(NAME integration.examples COMMAND Python3::Interpreter -B
    ${CMAKE_CURRENT_LIST_DIR}/examples.py -v Examples)
  set_tests_properties(integration.examples PROPERTIES LABELS unit TIMEOUT 600
    ENVIRONMENT "RTL_BUILD_DIR=${PROJECT_BINARY_DIR};RTL_CC=${CMAKE_C_COMPILER}")
  # The same with a build that has no collectors for ROCm.
  add_test(NAME integration.no_rocm COMMAND ${CMAKE_CURRENT_LIST_DIR}/no_rocm
    ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER})
  set_tests_properties(integration.no_rocm PROPERTIES LABELS "unit;slow" TIMEOUT 600)
endif()
