# SPDX-License-Identifier: MIT

# rtl_test(NAME LABELS COMMAND... [TIMEOUT S] [COST N] [PASS REGEX] [ENV ...])
#   A test of CTest with RTL_BUILD_DIR in its environment; exit status 77: it is skipped.
function(rtl_test name labels)
  set(environment RTL_BUILD_DIR=${PROJECT_BINARY_DIR})
  set(what COMMAND)
  set(properties TIMEOUT 600 SKIP_RETURN_CODE 77)
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE 2 ${last}) # by number: an argument may be empty, or have a bracket
    set(argument "${ARGV${i}}")
    if(argument MATCHES "^(TIMEOUT|COST|PASS|ENV)$")
      string(REPLACE PASS PASS_REGULAR_EXPRESSION what ${argument})
    elseif(what STREQUAL COMMAND)
      string(APPEND command " [==[${argument}]==]")
    elseif(what STREQUAL ENV)
      list(APPEND environment ${argument})
    else()
      list(APPEND properties ${what} "${argument}")
    endif()
  endforeach()
  cmake_language(EVAL CODE "add_test(NAME [==[${name}]==] COMMAND ${command})")
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" ${properties} ENVIRONMENT "${environment}")
endfunction()
