# SPDX-License-Identifier: MIT
# Tests that run on a software GPU.
#
# rtl_softgpu_test(NAME COMMAND... [ENVIRONMENT ...])
#   CTest runs COMMAND under tests/softgpu/run, label softgpu.
# rtl_rocm_test(ROCM NAME COMMAND... [ENVIRONMENT ...])
#   The same under tests/rocmROCM/run (ROCM: 6 or 7), label rocm6 or rocm7. Where that is not fetched the
#   test is registered all the same, and is skipped with the reason: COMMAND need not exist then.
#   In sanitized builds there are none: the host's sanitizers do not know the newer libc.
include_guard(GLOBAL)
get_filename_component(dir ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
set(RTL_TESTS_DIR ${dir} CACHE INTERNAL "")

function(_rtl_gpu_test label name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "ENVIRONMENT")
  set(environment "RTL_BUILD_DIR=${PROJECT_BINARY_DIR}"
    "LSAN_OPTIONS=suppressions=${RTL_TESTS_DIR}/cmake/lsan.supp:print_suppressions=0")
  add_test(NAME ${label}.${name} COMMAND ${RTL_TESTS_DIR}/${label}/run ${arg_UNPARSED_ARGUMENTS})
  set_tests_properties(${label}.${name} PROPERTIES LABELS ${label} TIMEOUT 600
    SKIP_RETURN_CODE 77 ENVIRONMENT "${environment};${arg_ENVIRONMENT}")
endfunction()

function(rtl_softgpu_test name)
  _rtl_gpu_test(softgpu ${name} ${ARGN})
endfunction()

function(rtl_rocm_test rocm name)
  if(NOT RTL_SANITIZE)
    _rtl_gpu_test(rocm${rocm} ${name} ${ARGN})
  endif()
endfunction()
