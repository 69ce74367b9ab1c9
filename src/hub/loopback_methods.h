/*
 * The methods of loopback.*, for its table.
 */
#ifndef ARBOR_HUB_LOOPBACK_METHODS_H
#define ARBOR_HUB_LOOPBACK_METHODS_H

#include "hub/method.h"

extern const struct method loopback_permit, loopback_pending, loopback_wait, loopback_respond,
	loopback_configure;
extern const struct method loopback_rules, loopback_rule_add, loopback_rule_delete;

#endif
