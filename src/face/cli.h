/*
 * The command line, printed from a hub's method table. It knows no method: what
 * the table holds is what can be typed, read in help, completed and found in the
 * manual.
 */
#ifndef ARBOR_FACE_CLI_H
#define ARBOR_FACE_CLI_H

#include "hub/hub.h"

/* Runs one command line and returns the exit code. */
int cli_main(const struct hub *hub, int argc, char **argv);

#endif
