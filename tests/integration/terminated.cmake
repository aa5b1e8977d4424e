# SPDX-License-Identifier: MIT
if(TARGET softgpu_kmt AND TARGET rtl_rocm)
  add_test(NAME integration.terminated COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/terminated
    ${PROJECT_BINARY_DIR}/tests/programs/exit_ways)
  set_tests_properties(integration.terminated PROPERTIES LABELS softgpu TIMEOUT 600
    ENVIRONMENT "RTL_BUILD_DIR=${PROJECT_BINARY_DIR};SOFTGPU_KERNELS=${PROJECT_BINARY_DIR}/tests/programs/libhost_kernels.so")
endif()
