/*
 * Fuzzes the tokenizer: whatever the bytes, test/harness/words_check.h holds.
 */
#include "words_check.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *broken = words_check(str_from((const char *)data, size));

	if (broken) {
		fprintf(stderr, "does not hold: %s\n", broken);
		abort();
	}
	return 0;
}
