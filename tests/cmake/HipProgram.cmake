# SPDX-License-Identifier: MIT
# HIP programs for the tests, built by the distribution's hipcc.
#
# rtl_hip_program(NAME SOURCE... [OPTIONS ...] [LIBS ...] [DEPENDS ...])
#   Target NAME (part of `all`) builds ${RTL_HIP5_DIR}/NAME for ROCm 5.2, to be run by
#   tests/softgpu/run, and, when the fetched ROCm 7 was there at configure time
#   (RTL_ROCM7_FOUND), ${RTL_HIP7_DIR}/NAME for it, to be run by tests/rocm7/run. For ROCm 6 likewise,
#   in folders that set RTL_HIP6_DIR.
#   OPTIONS are compiler options, LIBS linker arguments, DEPENDS headers that SOURCEs include.
#   Without hipcc there is no target: test `if(TARGET NAME)`.
#
# Kernels are never executed on the software GPUs. So the ROCm 7 build compiles them for
# gfx940, which clang 15 knows, and then relabels them gfx942, which ROCm 7 runs.
include_guard(GLOBAL)

# In the cache, since the functions are global but plain variables are their includer's.
set(RTL_HIP5_DIR ${PROJECT_BINARY_DIR}/tests/hip5 CACHE INTERNAL "")
set(RTL_HIP7_DIR ${PROJECT_BINARY_DIR}/tests/hip7 CACHE INTERNAL "")
set(RTL_ROCM7_SOURCE_DIR ${CMAKE_CURRENT_LIST_DIR}/../rocm7 CACHE INTERNAL "")
find_program(RTL_HIPCC hipcc DOC "HIP compiler of the distribution's ROCm")

# Where the fetched user spaces are (tests/rocm6/fetch, tests/rocm7/fetch), and whether they are.
# A program for one names the fetched loader and libraries itself (libc included, which is
# newer than the host's): it can be executed by name, be a child, have its own /proc/self/exe.
set(rocms "")
foreach(rocm 6 7)
  execute_process(COMMAND ${RTL_ROCM7_SOURCE_DIR}/fetch --rocm ${rocm} --dir
    OUTPUT_VARIABLE dir OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${RTL_ROCM7_SOURCE_DIR}/fetch --rocm ${rocm} --check RESULT_VARIABLE status)
  set(found FALSE)
  if(status EQUAL 0)
    set(found TRUE)
    list(APPEND rocms ${rocm})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${dir}/stamp)
  endif()
  set(libraries ${dir}/x/usr/lib/x86_64-linux-gnu)
  set(RTL_ROCM${rocm}_FOUND ${found} CACHE INTERNAL "")
  set(RTL_ROCM${rocm}_INCLUDE_DIR ${dir}/x/usr/include CACHE INTERNAL "")
  set(RTL_ROCM${rocm}_LIBRARY_DIR ${libraries} CACHE INTERNAL "")
  set(RTL_ROCM${rocm}_LINK_OPTIONS
    -Wl,--dynamic-linker=${libraries}/ld-linux-x86-64.so.2
    -Wl,-rpath,${libraries} -Wl,--disable-new-dtags -Wl,--allow-shlib-undefined
    CACHE INTERNAL "")
endforeach()
set(RTL_ROCMS_FOUND "${rocms}" CACHE INTERNAL "")
set(RTL_ROCM6_ARCH gfx906 CACHE INTERNAL "") # as the distribution's compiler knows it
set(RTL_ROCM7_ARCH gfx940 CACHE INTERNAL "")

# Relabels the code objects in a finished program.
add_executable(retarget ${RTL_ROCM7_SOURCE_DIR}/retarget.c)
target_link_libraries(retarget PRIVATE rtl_settings)

function(rtl_hip_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OPTIONS;LIBS;DEPENDS")
  if(NOT RTL_HIPCC)
    message(STATUS "${name}: not built, there is no hipcc")
    return()
  endif()
  set(sources)
  foreach(source ${arg_UNPARSED_ARGUMENTS})
    get_filename_component(source ${source} ABSOLUTE)
    list(APPEND sources ${source})
  endforeach()
  set(compile ${CMAKE_COMMAND} -E env HIP_PLATFORM=amd
    ${RTL_HIPCC} -std=c++17 -O2 -g -Wno-unused-result -Wno-unused-command-line-argument
    ${arg_OPTIONS})

  set(hip5 ${RTL_HIP5_DIR}/${name})
  file(MAKE_DIRECTORY ${RTL_HIP5_DIR})
  add_custom_command(OUTPUT ${hip5}
    COMMAND ${compile} --offload-arch=gfx906 -o ${hip5} ${sources} ${arg_LIBS}
    DEPENDS ${sources} ${arg_DEPENDS} VERBATIM
    COMMENT "Building HIP program ${name} for ROCm 5.2")
  set(outputs ${hip5})

  foreach(rocm ${RTL_ROCMS_FOUND})
    if(NOT RTL_HIP${rocm}_DIR)
      continue()
    endif()
    set(program ${RTL_HIP${rocm}_DIR}/${name})
    set(compat ${RTL_ROCM7_SOURCE_DIR}/clang15.h)
    file(MAKE_DIRECTORY ${RTL_HIP${rocm}_DIR})
    add_custom_command(OUTPUT ${program}
      COMMAND ${compile} --offload-arch=${RTL_ROCM${rocm}_ARCH} -include ${compat}
        -isystem ${RTL_ROCM${rocm}_INCLUDE_DIR} -no-hip-rt -o ${program}.tmp ${sources} ${arg_LIBS}
        -L${RTL_ROCM${rocm}_LIBRARY_DIR} -l:libamdhip64.so.${rocm} ${RTL_ROCM${rocm}_LINK_OPTIONS}
      COMMAND retarget ${program}.tmp
      COMMAND ${CMAKE_COMMAND} -E rename ${program}.tmp ${program}
      DEPENDS ${sources} ${arg_DEPENDS} ${compat} retarget VERBATIM
      COMMENT "Building HIP program ${name} for ROCm ${rocm}")
    list(APPEND outputs ${program})
  endforeach()
  add_custom_target(${name} ALL DEPENDS ${outputs})
endfunction()
