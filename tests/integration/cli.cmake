# SPDX-License-Identifier: MIT
# The command line, without ROCm: cli.py. And the man pages against --help: cli_man.py.
find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_FOUND OR NOT TARGET rtl_cli)
  message(STATUS "tests/integration/cli: not there, it needs python3 and the command rtl")
  return()
endif()

add_executable(cli_program ${CMAKE_CURRENT_LIST_DIR}/cli_program.c)
find_package(Threads REQUIRED)
target_link_libraries(cli_program PRIVATE rtl_settings rtl Threads::Threads)

# Kills a command at a system call.
add_executable(kill_at ${CMAKE_CURRENT_LIST_DIR}/kill_at.c)
target_link_libraries(kill_at PRIVATE rtl_settings)

# Preloaded: nothing is allocated between fork and exec.
add_library(fork_malloc MODULE ${CMAKE_CURRENT_LIST_DIR}/fork_malloc.c)
target_link_libraries(fork_malloc PRIVATE rtl_settings)

# Preloaded: a process that makes its spool when rtl has ended.
add_library(late_folder MODULE ${CMAKE_CURRENT_LIST_DIR}/late_folder.c)
target_link_libraries(late_folder PRIVATE rtl_settings ${CMAKE_DL_LIBS})

add_library(cli_slow_sub MODULE ${CMAKE_CURRENT_LIST_DIR}/cli_slow_sub.c)
target_link_libraries(cli_slow_sub PRIVATE rtl_settings rtl_shared_settings)

add_library(cli_crash_sub MODULE ${CMAKE_CURRENT_LIST_DIR}/cli_crash_sub.c)
target_link_libraries(cli_crash_sub PRIVATE rtl_settings rtl_shared_settings)
# Leaves a mark where it is loaded.
add_library(cli_mark_sub MODULE ${CMAKE_CURRENT_LIST_DIR}/cli_mark_sub.c)
target_link_libraries(cli_mark_sub PRIVATE rtl_settings rtl_shared_settings)
# Two plugins in files of one name.
foreach(twin one two)
  add_library(cli_twin_${twin} MODULE ${CMAKE_CURRENT_LIST_DIR}/cli_twin_sub.c)
  target_link_libraries(cli_twin_${twin} PRIVATE rtl_settings rtl_shared_settings)
  target_compile_definitions(cli_twin_${twin} PRIVATE TWIN_NAME="${twin}")
  set_target_properties(cli_twin_${twin} PROPERTIES OUTPUT_NAME twin_sub
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${twin})
endforeach()

set(environment
  RTL=$<TARGET_FILE:rtl_cli> RTL_TEST_PROGRAM=$<TARGET_FILE:cli_program>
  RTL_TEST_PLUGINS=${PROJECT_BINARY_DIR}/tests/unit/core/plugins
  RTL_TEST_SLOW=$<TARGET_FILE:cli_slow_sub> RTL_TEST_CRASH=$<TARGET_FILE:cli_crash_sub>
  RTL_TEST_MARK=$<TARGET_FILE:cli_mark_sub>
  RTL_TEST_TWINS=$<TARGET_FILE:cli_twin_one>:$<TARGET_FILE:cli_twin_two>
  RTL_TEST_FORK_MALLOC=$<TARGET_FILE:fork_malloc>
  RTL_TEST_LATE_FOLDER=$<TARGET_FILE:late_folder>
  RTL_TEST_KILL_AT=$<TARGET_FILE:kill_at>
  RTL_TEST_SANITIZE=${RTL_SANITIZE}
  RTL_TEST_MAN=${PROJECT_SOURCE_DIR}/docs/man)
# rtl_cli_tests(PREFIX FILE SUITES...): PREFIX.SUITE for each class of tests in FILE
function(rtl_cli_tests prefix file)
  foreach(suite ${ARGN})
    add_test(NAME ${prefix}.${suite}
      COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${file} -v ${suite})
    set_tests_properties(${prefix}.${suite} PROPERTIES
      LABELS unit TIMEOUT 600 ENVIRONMENT "${environment}")
  endforeach()
endfunction()
rtl_cli_tests(cli cli.py Trace Collector Recover Record StartStop)
rtl_cli_tests(cli cli_run.py BadInput Run Signals Hangup Terminal)
rtl_cli_tests(cli cli_show.py Info Env Lists Summary)
rtl_cli_tests(cli cli_report.py Report Browser)
rtl_cli_tests(cli cli_diff.py Diff)
# What is said at the end.
rtl_cli_tests(cli cli_endings.py Endings)
# Folders that are not the caller's.
rtl_cli_tests(cli cli_foreign.py Foreign)
# What goes wrong.
rtl_cli_tests(faults faults.py Vanished Crash DeadCollector Stalled Plugins)
rtl_cli_tests(faults faults_killed.py Killed Leftovers EndsInOrder)
rtl_cli_tests(faults faults_disk.py FullDisk ReadOnly Lines)
# scripts/test itself: scripts.py.
if(NOT RTL_SANITIZE) # nothing of rtl runs in it
  add_test(NAME scripts.test
    COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_LIST_DIR}/scripts.py -v)
  set_tests_properties(scripts.test PROPERTIES LABELS unit TIMEOUT 600
    ENVIRONMENT "RTL_TEST_SCRIPTS=${PROJECT_SOURCE_DIR}/scripts")
endif()
add_test(NAME cli.man COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_LIST_DIR}/cli_man.py)
set_tests_properties(cli.man PROPERTIES
  LABELS unit TIMEOUT 600 ENVIRONMENT "${environment}")
set_tests_properties(faults.Killed PROPERTIES LABELS stress TIMEOUT 3600)
