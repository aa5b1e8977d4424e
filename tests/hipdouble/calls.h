/* SPDX-License-Identifier: MIT */
/* What a call's arguments say of its record: the size, and the grid of a launch. */
#pragma once

#include "hip_double.h"

#include <hip/hip_runtime_api.h>

#include <hip/amd_detail/hip_prof_str.h>

/* Fills the record of a call that begins; `data` has its arguments. */
void calls_fill(struct hip_record *record, uint32_t id, const hip_api_data_t *data);
/* Mangled names, from HIP: those of kernels that a call launches or makes a node of. */
void calls_see_names(uint32_t id, const hip_api_data_t *data);
