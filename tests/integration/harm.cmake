# SPDX-License-Identifier: MIT
# Programs that take from themselves what rtl uses: they go on, and what is lost is told by its cause.
find_package(Threads REQUIRED)
add_executable(harm_limits harm_limits.c)
target_link_libraries(harm_limits PRIVATE rtl rtl_settings Threads::Threads)
if(TARGET rtl_cli AND TARGET sqlite_sub AND NOT RTL_SANITIZE)
  # Who has given up its rights, or its root, cannot remove its spool.
  set(spools ${CMAKE_CURRENT_BINARY_DIR}/harm_spools)
  file(REMOVE_RECURSE ${spools})
  file(MAKE_DIRECTORY ${spools})
  foreach(case close files size memory root user)
    add_test(NAME integration.harm.limits_${case}
      COMMAND $<TARGET_FILE:rtl_cli> trace -q -o ${CMAKE_CURRENT_BINARY_DIR}/harm_${case}.db --
      $<TARGET_FILE:harm_limits> ${case})
    add_test(NAME integration.harm.limits_${case}_in_process COMMAND harm_limits ${case})
    set_tests_properties(integration.harm.limits_${case} integration.harm.limits_${case}_in_process
      PROPERTIES LABELS unit TIMEOUT 120 SKIP_RETURN_CODE 77
      FAIL_REGULAR_EXPRESSION "collector is gone;was removed;FAILED"
      ENVIRONMENT "RTL_BUFFER_SIZE=256K;RTL_BUFFER_TOTAL=256M;RTL_SPOOL=${spools};RTL_SUBSCRIBERS=$<TARGET_FILE:sqlite_sub>?output=${CMAKE_CURRENT_BINARY_DIR}/harm_${case}_in.db")
  endforeach()
endif()

# The first start of the bus while another thread forks: alone, with a subscriber in the process, and
# collected. Under sanitizers threads of children are not what they are.
if(TARGET rtl_cli AND TARGET sqlite_sub AND NOT RTL_SANITIZE)
  add_executable(harm_fork_first harm_fork_first.c)
  target_link_libraries(harm_fork_first PRIVATE rtl rtl_settings Threads::Threads)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/harm_fork_first)
  set(commands_alone harm_fork_first 250)
  if(TARGET rtl_rocm) # rtl trace does the same
    set(preload LD_PRELOAD=$<TARGET_FILE:rtl_rocm>)
  endif()
  set(commands_in_process env ${preload}
    RTL_SUBSCRIBERS=$<TARGET_FILE:stats_sub>?output=${out}.txt $<TARGET_FILE:harm_fork_first> 100)
  set(commands_collected $<TARGET_FILE:rtl_cli> trace -q -o ${out}.db --
    $<TARGET_FILE:harm_fork_first> 150)
  foreach(how alone in_process collected)
    add_test(NAME integration.harm.fork_first_${how} COMMAND ${commands_${how}})
    set_tests_properties(integration.harm.fork_first_${how} PROPERTIES LABELS unit TIMEOUT 300
      PASS_REGULAR_EXPRESSION "harm_fork_first: ok")
  endforeach()
  add_executable(harm_fork_loader harm_fork_loader.c)
  target_link_libraries(harm_fork_loader PRIVATE rtl rtl_settings Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(harm_fork_loader PROPERTIES ENABLE_EXPORTS ON)
  add_test(NAME integration.harm.fork_loader COMMAND harm_fork_loader)
  set(tests integration.harm.fork_loader)
  if(TARGET rtl_rocm)
    add_test(NAME integration.harm.fork_loader_roctx
      COMMAND env ${preload} $<TARGET_FILE:harm_fork_loader>)
    list(APPEND tests integration.harm.fork_loader_roctx)
  endif()
  set_tests_properties(${tests} PROPERTIES LABELS unit TIMEOUT 120
    PASS_REGULAR_EXPRESSION "harm_fork_loader: ok")
endif()
