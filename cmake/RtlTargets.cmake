# Settings that every target of rtl shares, as interface targets: link rtl_settings
# for code, rtl_plugin_settings as well for what is loaded into an application.

add_library(rtl_settings INTERFACE)
target_compile_features(rtl_settings INTERFACE c_std_17)
target_compile_definitions(rtl_settings INTERFACE _GNU_SOURCE)
target_include_directories(rtl_settings INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(rtl_settings INTERFACE
  -Wall -Wextra -Wshadow -Wpointer-arith -Wwrite-strings -Wvla -Wundef
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
