# SPDX-License-Identifier: MIT
# At installation with RTL_COMMAND=NAME: the link librtl.so, by which others are linked, stands in a folder of
# its own, which pkg-config names. CMake's targets do not need the link.
if(NOT "$ENV{RTL_COMMAND}" STREQUAL "" AND NOT "$ENV{RTL_COMMAND}" STREQUAL rtl)
  set(lib $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${rtl_lib})
  file(MAKE_DIRECTORY ${lib}/rtl/link)
  file(REMOVE ${lib}/librtl.so)
  file(CREATE_LINK ../../librtl.so.0 ${lib}/rtl/link/librtl.so SYMBOLIC)
  file(READ ${lib}/pkgconfig/rtl.pc text)
  string(REPLACE "-L\${libdir} " "-L\${libdir}/rtl/link " text "${text}")
  file(WRITE ${lib}/pkgconfig/rtl.pc "${text}")
endif()
