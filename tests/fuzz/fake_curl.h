/* SPDX-License-Identifier: MIT */
/* In place of libcurl: answers come from the input, pieces that a byte of 255 ends. The first byte of each
 * chooses what the transfer came to. */
#pragma once

#include "fuzz.h"

void fake_curl_begin(const uint8_t *data, size_t size);
