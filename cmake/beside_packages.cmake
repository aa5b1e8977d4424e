# SPDX-License-Identifier: MIT
# Read by cpack. RTL_COMMAND=NAME in the environment: the package with the command has that name and no file that
# rocm-trace-lite's has; it stands for the package rtl, which cannot be installed beside it.
if(NOT "$ENV{RTL_COMMAND}" STREQUAL "" AND NOT "$ENV{RTL_COMMAND}" STREQUAL rtl)
  if(NOT "$ENV{RTL_COMMAND}" MATCHES "^[a-z0-9][a-z0-9+.-]+$")
    message(FATAL_ERROR "RTL_COMMAND=$ENV{RTL_COMMAND}: no name of a Debian package; use small letters, digits, + . -")
  endif()
  set(CPACK_DEBIAN_TRACE_PACKAGE_NAME $ENV{RTL_COMMAND})
  set(CPACK_DEBIAN_TRACE_PACKAGE_PROVIDES "rtl (= ${CPACK_PACKAGE_VERSION})")
  set(CPACK_DEBIAN_TRACE_PACKAGE_CONFLICTS rtl)
  set(CPACK_DEBIAN_TRACE_PACKAGE_REPLACES rtl)
endif()
