/* SPDX-License-Identifier: MIT */
/* rtl_ticks and rtl_ticks_to_ns: scenarios of test_bus_child_ticks.c. */

#include "test_bus_run.h"
#include "unit.h"

BUS_TEST(test_ticks__now__between_readings_of_the_clock, "ticks_now", NULL)
BUS_TEST(test_ticks__now_without_tsc__between_readings_of_the_clock, "ticks_now", NULL,
	 "RTL_CLOCK=boottime")
BUS_TEST(test_ticks__converted_late__between_readings_of_the_clock, "ticks_converted_late", NULL)
BUS_TEST(test_ticks__several_threads__never_backwards, "ticks_of_several_threads", NULL)
BUS_TEST(test_ticks__several_threads_without_tsc__never_backwards, "ticks_of_several_threads", NULL,
	 "RTL_CLOCK=boottime")
BUS_TEST(test_ticks__in_signal_handlers__between_readings_of_the_clock, "ticks_in_signal_handlers",
	 NULL)
BUS_TEST(test_ticks__after_fork__between_readings_of_the_clock, "ticks_after_fork", NULL)

RUN_TESTS(NULL, NULL, NULL, NULL)
