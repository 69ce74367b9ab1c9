/*
 * The program: Arbor's hub behind a command line.
 */
#include "face/cli.h"
#include "hub/activations.h"

int main(int argc, char **argv)
{
	return cli_main(&arbor_hub, argc, argv);
}
