/*
 * Runs a fuzz target over files given as arguments, without a fuzzer: so the
 * corpus is a regression test for every compiler. Folders are read one deep.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t n = 0, got;

	if (!f) {
		perror(path);
		return 1;
	}
	do {
		data = realloc(data, n + 65536);
		if (!data)
			abort();
		got = fread(data + n, 1, 65536, f);
		n += got;
	} while (got);
	fclose(f);
	/* An exact copy, so that a read behind its end is seen. */
	uint8_t *exact = malloc(n ? n : 1);
	if (!exact)
		abort();
	for (size_t i = 0; i < n; i++)
		exact[i] = data[i];
	free(data);
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
	return 0;
}

int main(int argc, char **argv)
{
	int bad = 0, files = 0;

	for (int i = 1; i < argc; i++) {
		DIR *dir = opendir(argv[i]);
		struct dirent *entry;
		char path[4096];

		if (!dir) {
			bad += replay_file(argv[i]);
			files++;
			continue;
		}
		while ((entry = readdir(dir))) {
			if (entry->d_name[0] == '.')
				continue;
			snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
			bad += replay_file(path);
			files++;
		}
		closedir(dir);
	}
	printf("# replayed %d inputs\n", files);
	return bad != 0;
}
