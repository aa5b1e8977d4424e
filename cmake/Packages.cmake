# SPDX-License-Identifier: MIT
# Debian packages, by `cpack -G DEB` in a build folder (scripts/package makes one): librtl0, librtl-dev,
# rtl (the command, the subscribers, what is loaded into ROCm programs), rtl-clickhouse (its subscriber, which
# needs libcurl), rtl-doc, python3-rtl. And the source archive, by `cpack --config CPackSourceConfig.cmake`.

# Guides and examples; man pages are the command's.
set(RTL_DOC_DIR ${CMAKE_INSTALL_DATAROOTDIR}/doc/rtl)
file(GLOB guides CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md ${PROJECT_SOURCE_DIR}/docs/*.png
  ${PROJECT_SOURCE_DIR}/docs/*.csv)
install(FILES ${guides} ${PROJECT_SOURCE_DIR}/LICENSE
  DESTINATION ${RTL_DOC_DIR} COMPONENT doc)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/examples ${PROJECT_SOURCE_DIR}/docs/guides
  DESTINATION ${RTL_DOC_DIR} COMPONENT doc)
# What contains parts of others says so.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${RTL_DOC_DIR} RENAME copyright)
if(TARGET clickhouse_sub)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${RTL_DOC_DIR}-clickhouse RENAME copyright COMPONENT clickhouse)
endif()
# The same as HTML, where there is what makes it.
find_program(RTL_CMARK cmark-gfm DOC "Makes HTML of the guides")
if(RTL_CMARK)
  file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/*.md ${PROJECT_SOURCE_DIR}/docs/guides/*.md)
  set(html ${PROJECT_BINARY_DIR}/html)
  add_custom_command(OUTPUT ${html}/docs/index.html
    COMMAND ${PROJECT_SOURCE_DIR}/scripts/html ${html} ${RTL_CMARK}
    DEPENDS ${PROJECT_SOURCE_DIR}/scripts/html ${guides} ${pages} VERBATIM)
  add_custom_target(html ALL DEPENDS ${html}/docs/index.html)
  install(DIRECTORY ${html} DESTINATION ${RTL_DOC_DIR} COMPONENT doc)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "rtl")
set(CPACK_PACKAGE_CONTACT "the rtl project <rtl@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_SOURCE_GENERATOR TXZ)
set(CPACK_SOURCE_IGNORE_FILES /build/ /\\.git/ /\\.cache/)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS OFF)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(same "(= ${PROJECT_VERSION})")

set(CPACK_COMPONENTS_ALL lib dev trace doc python)
if(TARGET clickhouse_sub)
  list(APPEND CPACK_COMPONENTS_ALL clickhouse)
endif()
set(CPACK_COMPONENT_LIB_DESCRIPTION "Event bus that programs and libraries publish to")
set(CPACK_DEBIAN_LIB_PACKAGE_NAME librtl0)
set(CPACK_DEBIAN_LIB_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIB_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/triggers)

set(CPACK_COMPONENT_DEV_DESCRIPTION "Headers to publish events, and to write subscribers")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME librtl-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "librtl0 ${same}")

set(CPACK_COMPONENT_TRACE_DESCRIPTION "Tracer for ROCm programs: databases, timelines, statistics")
set(CPACK_DEBIAN_TRACE_PACKAGE_NAME rtl)
set(CPACK_DEBIAN_TRACE_PACKAGE_DEPENDS "librtl0 ${same}")
# It installs /usr/bin/rtl and librtl.so, too. Packages that stand beside it: RTL_COMMAND=NAME cpack.
set(CPACK_DEBIAN_TRACE_PACKAGE_CONFLICTS rocm-trace-lite)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/beside_packages.cmake)

set(CPACK_COMPONENT_CLICKHOUSE_DESCRIPTION "Tracer for ROCm programs: rows for a ClickHouse server")
set(CPACK_DEBIAN_CLICKHOUSE_PACKAGE_NAME rtl-clickhouse)
set(CPACK_DEBIAN_CLICKHOUSE_PACKAGE_DEPENDS "rtl ${same}")
set(CPACK_DEBIAN_TRACE_PACKAGE_SUGGESTS rtl-clickhouse)

set(CPACK_COMPONENT_DOC_DESCRIPTION "Guides and examples of rtl")
set(CPACK_DEBIAN_DOC_PACKAGE_NAME rtl-doc)
set(CPACK_DEBIAN_DOC_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOC_PACKAGE_SHLIBDEPS OFF)

set(CPACK_COMPONENT_PYTHON_DESCRIPTION "Traces of rtl in Python")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-rtl)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.9)")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "rtl, python3-pandas")
include(CPack)
