# SPDX-License-Identifier: MIT
# stub.h: two libraries that do not require rtl, in C11 and C++11, and a program that links to them.
set(stub_folder ${CMAKE_CURRENT_BINARY_DIR}/stub)
function(stub_library name source)
  add_library(stub_test_${name} SHARED ${source} test_stub_second.c)
  target_link_libraries(stub_test_${name} PRIVATE rtl_settings ${CMAKE_DL_LIBS})
  target_compile_definitions(stub_test_${name} PRIVATE
    STUB_LIBRARY=stub_library_${name} STUB_STREAM="t.stub_${name}")
  # Strict standards, as somebody else may have them; the compiler's own extensions are used
  # under their reserved names.
  target_compile_options(stub_test_${name} PRIVATE -pedantic)
  set_target_properties(stub_test_${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${stub_folder}
    C_STANDARD 11 C_EXTENSIONS OFF CXX_STANDARD 11 CXX_EXTENSIONS OFF)
endfunction()
stub_library(c test_stub_library.c)
stub_library(cpp test_stub_library_cpp.cpp)

# The thread sanitizer does not see the loader's lock, which orders what two libraries find.
set(stub_sanitized 0)
set(stub_threaded 2)
if(RTL_SANITIZE)
  set(stub_sanitized 1)
endif()
if(RTL_SANITIZE MATCHES thread)
  set(stub_threaded 1)
endif()

add_executable(test_stub_child test_stub_child.c)
target_link_libraries(test_stub_child PRIVATE rtl_settings stub_test_c stub_test_cpp Threads::Threads)
target_compile_definitions(test_stub_child PRIVATE
  PROBE_SUB="$<TARGET_FILE:probe_sub>" LIBRARIES_AT_ONCE=${stub_threaded})
set_target_properties(test_stub_child PROPERTIES ENABLE_EXPORTS ON) # probe_hooks

rtl_unit_test(test_stub test_stub.c test_bus_run.c
  DEFINES PROBE_SUB="$<TARGET_FILE:probe_sub>" BUS_CHILD="$<TARGET_FILE:test_stub_child>"
    LIBRTL="$<TARGET_FILE:rtl>" LIBRTL_FOLDER="$<TARGET_FILE_DIR:rtl>"
    STUB_C="$<TARGET_FILE:stub_test_c>" STUB_CPP="$<TARGET_FILE:stub_test_cpp>"
    SANITIZED=${stub_sanitized}
  DEPENDS probe_sub test_stub_child rtl)
