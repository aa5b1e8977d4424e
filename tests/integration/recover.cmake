# SPDX-License-Identifier: MIT
# Each event once, whoever is killed: see recover/stress.c.
find_package(SQLite3 REQUIRED)
find_package(Threads REQUIRED)

set(recover_dir ${CMAKE_CURRENT_SOURCE_DIR}/recover)
add_executable(recover_publish ${recover_dir}/publish.c)
target_link_libraries(recover_publish PRIVATE rtl_settings rtl fake_host Threads::Threads)
add_executable(recover_host ${recover_dir}/host.c)
target_link_libraries(recover_host PRIVATE rtl_settings rtl)
add_library(recover_killer MODULE ${recover_dir}/killer.c)
target_link_libraries(recover_killer PRIVATE rtl_settings rtl_shared_settings)
set_target_properties(recover_killer PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
add_executable(recover_stress ${recover_dir}/stress.c ${recover_dir}/check.c)
target_link_libraries(recover_stress PRIVATE rtl_settings SQLite::SQLite3)
target_compile_definitions(recover_stress PRIVATE
  RECOVER_PUBLISH="$<TARGET_FILE:recover_publish>" RECOVER_HOST="$<TARGET_FILE:recover_host>"
  RECOVER_KILLER="$<TARGET_FILE:recover_killer>" SQLITE_SUB_FILE="$<TARGET_FILE:sqlite_sub>")
add_dependencies(recover_stress recover_killer recover_publish recover_host sqlite_sub)

add_test(NAME recover.stress COMMAND recover_stress)
set_tests_properties(recover.stress PROPERTIES LABELS stress TIMEOUT 3600)
