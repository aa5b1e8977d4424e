# SPDX-License-Identifier: MIT
# librtl_xpti.so as publishers and plugins of XPTI use it: programs that do what libsycl and the loader
# of Unified Runtime do, traced; what they have written down themselves is compared with the database.
if(NOT TARGET rtl_xpti)
  return()
endif()
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
set(xpti ${CMAKE_CURRENT_LIST_DIR}/xpti)

add_executable(xpti_publisher ${xpti}/publisher.c)
configure_file(${xpti}/publisher.c ${CMAKE_CURRENT_BINARY_DIR}/xpti_publisher.cpp COPYONLY)
add_executable(xpti_publisher_cpp ${CMAKE_CURRENT_BINARY_DIR}/xpti_publisher.cpp)
foreach(program xpti_publisher xpti_publisher_cpp)
  target_link_libraries(${program} PRIVATE rtl_settings pthread ${CMAKE_DL_LIBS})
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/streams ${xpti})
endforeach()

# rtl_xpti_test(NAME ARGUMENTS...): a run of xpti/trace.
function(rtl_xpti_test name)
  add_test(NAME integration.xpti_${name} COMMAND ${xpti}/trace $<TARGET_FILE:rtl_cli> ${ARGN})
  set_tests_properties(integration.xpti_${name} PROPERTIES LABELS unit TIMEOUT 300)
endfunction()

set(c $<TARGET_FILE:xpti_publisher>)
set(cpp $<TARGET_FILE:xpti_publisher_cpp>)
rtl_xpti_test(publisher ${c} 1 200)
rtl_xpti_test(publisher_cpp ${cpp} 1 200)
rtl_xpti_test(eight_threads ${cpp} 8 300)
rtl_xpti_test(killed ${c} 2 200 kill)
rtl_xpti_test(aborted ${c} 2 200 abort)
rtl_xpti_test(fork ${c} 2 100 fork)
rtl_xpti_test(debug ${c} 2 100 exit RTL_XPTI_DEBUG=1)
