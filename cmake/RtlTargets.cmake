# Settings that every target of rtl shares, as interface targets: link rtl_settings
# for code, rtl_plugin_settings as well for what is loaded into an application.

# What follows from the descriptions of streams and from the headers of publishers: made where the build is configured, and again when they change.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
set(RTL_GENERATED ${PROJECT_BINARY_DIR}/generated)
file(GLOB RTL_EVENTS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/streams/events/*.toml)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${RTL_EVENTS}
  ${PROJECT_SOURCE_DIR}/streams/events/generate.py)
execute_process(COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/streams/events/generate.py ${RTL_GENERATED}
  COMMAND_ERROR_IS_FATAL ANY)
file(GLOB rtl_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/rtl/*.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/stub_calls.py ${rtl_headers})
execute_process(COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/cmake/stub_calls.py ${PROJECT_SOURCE_DIR}/include
  ${RTL_GENERATED}/include/rtl/stub_calls.h COMMAND_ERROR_IS_FATAL ANY)

add_library(rtl_settings INTERFACE)
target_compile_features(rtl_settings INTERFACE c_std_17)
target_compile_definitions(rtl_settings INTERFACE _GNU_SOURCE)
target_include_directories(rtl_settings INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${RTL_GENERATED}/include ${RTL_GENERATED})
target_compile_options(rtl_settings INTERFACE
  -Wall -Wextra -Wno-unused-parameter -Wshadow -Wpointer-arith -Wwrite-strings -Wvla -Wundef
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition>
  $<$<BOOL:${RTL_WERROR}>:-Werror>
  -fno-common)

# Shared objects that end up in somebody's process: nothing exported by accident,
# nothing left undefined, and calls that do not go through lazy binding.
add_library(rtl_shared_settings INTERFACE)
target_compile_options(rtl_shared_settings INTERFACE -fvisibility=hidden -fno-plt)
if(RTL_SANITIZE)
  target_compile_options(rtl_settings INTERFACE
    -fsanitize=${RTL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(rtl_settings INTERFACE -fsanitize=${RTL_SANITIZE})
  target_link_options(rtl_shared_settings INTERFACE -Wl,-z,now)
else()
  target_link_options(rtl_shared_settings INTERFACE -Wl,-z,defs -Wl,-z,now)
endif()

# rtl_plugin(NAME FILES...): a plugin libNAME.so without a version, for the plugin folder; in the package
# COMPONENT, where one is given.
function(rtl_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "COMPONENT" "")
  add_library(${name} MODULE ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE rtl_settings rtl_shared_settings)
  set_target_properties(${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/rtl)
  if(NOT arg_COMPONENT)
    set(arg_COMPONENT ${CMAKE_INSTALL_DEFAULT_COMPONENT_NAME})
  endif()
  install(TARGETS ${name} LIBRARY DESTINATION ${RTL_PLUGIN_DIR} COMPONENT ${arg_COMPONENT})
endfunction()
