/*
 * Every activation of this program, and the hub that holds them.
 */
#ifndef ARBOR_HUB_ACTIVATIONS_H
#define ARBOR_HUB_ACTIVATIONS_H

#include "hub/hub.h"

extern const struct activation activation_memory, activation_storage, activation_arbor, activation_claudecode,
	activation_loopback, activation_mustache, activation_hub;
extern const struct hub arbor_hub;

#endif
