# SPDX-License-Identifier: MIT
# An installed rtl, used by a project of somebody else. Not with sanitizers: the consumer has none.
if(NOT RTL_SANITIZE AND TARGET rtl_rocm)
  add_test(NAME integration.installed COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/installed
    ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER})
  set_tests_properties(integration.installed PROPERTIES LABELS "unit;abi" TIMEOUT 600)
endif()
