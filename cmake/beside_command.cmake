# SPDX-License-Identifier: MIT
# At installation: RTL_COMMAND=NAME in the environment is the command's name, instead of rtl.
if(NOT "$ENV{RTL_COMMAND}" STREQUAL "" AND NOT "$ENV{RTL_COMMAND}" STREQUAL rtl)
  set(bin $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${rtl_bin})
  file(RENAME ${bin}/rtl ${bin}/$ENV{RTL_COMMAND})
endif()
