/* SPDX-License-Identifier: MIT */
/* The names of subscribers that the user gives. One thread. */
#ifndef RTL_CLI_SUBSCRIBER_NAME_H
#define RTL_CLI_SUBSCRIBER_NAME_H

/** Says why rtl_plugin_open has failed with that message, or which name was probably meant; an exit
 *  status. */
int subscriber_refuse(const char *spec, int error, const char *message);

#endif
