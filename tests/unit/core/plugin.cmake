# SPDX-License-Identifier: MIT
# test_plugin, and the plugins that it opens, all from test_plugin_fixture.c: see there.
set(plugins ${CMAKE_CURRENT_BINARY_DIR}/plugins)
set(fixtures)

# fixture(NAME DEFINES...): plugins/libNAME_sub.so
macro(fixture name)
  add_library(fixture_${name} MODULE test_plugin_fixture.c)
  target_link_libraries(fixture_${name} PRIVATE rtl_settings rtl_shared_settings)
  target_compile_definitions(fixture_${name} PRIVATE ${ARGN})
  set_target_properties(fixture_${name} PROPERTIES
    OUTPUT_NAME ${name}_sub LIBRARY_OUTPUT_DIRECTORY ${plugins})
  list(APPEND fixtures fixture_${name})
endmacro()

fixture(good)
fixture(nosymbol FIXTURE_NO_SYMBOL)
fixture(major FIXTURE_ABI=0x00070003u)
fixture(minor FIXTURE_ABI=RTL_ABI_VERSION+1)
fixture(older "FIXTURE_SIZE=offsetof(struct rtl_subscriber, create)+sizeof(void*)")
fixture(short FIXTURE_SIZE=8)
fixture(nocreate FIXTURE_NO_CREATE)
fixture(noname FIXTURE_NAME="")
fixture(nosettings FIXTURE_NO_SETTINGS)
fixture(badsettings FIXTURE_BAD_SETTINGS)
fixture(oldsettings FIXTURE_OLD_SETTINGS)
fixture(baddefault FIXTURE_BAD_DEFAULT)

# There when linking, not when loading: the name in it is not that of the file.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/gone.c "int gone(void);\nint gone(void) { return 0; }\n")
add_library(fixture_gone SHARED ${CMAKE_CURRENT_BINARY_DIR}/gone.c)
set_target_properties(fixture_gone PROPERTIES NO_SONAME ON
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
target_link_options(fixture_gone PRIVATE -Wl,-soname,libgone-for-test.so.1)
fixture(dependent FIXTURE_DEPENDENCY)
target_link_libraries(fixture_dependent PRIVATE fixture_gone)

# Where the installed folder of a program with plugin.c in it is.
fixture(installed FIXTURE_NAME="installed")
set_target_properties(fixture_installed PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/rtl)

rtl_unit_test(test_plugin test_plugin.c
  LIBS rtl_core DEFINES PLUGINS="${plugins}" DEPENDS ${fixtures})
set_target_properties(test_plugin PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
