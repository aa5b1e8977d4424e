/* SPDX-License-Identifier: MIT */
/* The command rtl, within a target: quiet, and again and again. */
#pragma once

#include "cli.h"

/* What is printed goes nowhere from here on; what sanitizers say does not. */
void cli_run_init(void);
/* Runs a command with arguments, up to a NULL; its status. It must be one of those that rtl has. */
int cli_run(const struct cli_command *command, ...) __attribute__((sentinel));
