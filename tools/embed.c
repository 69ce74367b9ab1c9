/*
 * embed NAME FILE...: prints C source that holds the files' bytes.
 *
 * Runs on the build machine. gcc 12 has no #embed, xxd is not part of a build
 * environment, and .incbin ties the build to one assembler.
 *
 * The output defines `const struct embedded NAME[]`, ended by a NULL name, in
 * the order given. base/embed.h declares the type.
 */
#include <stdio.h>
#include <string.h>

static int print_file(const char *path, int index)
{
	FILE *f = fopen(path, "rb");
	int c, column = 0;

	if (!f) {
		perror(path);
		return 1;
	}
	printf("static const unsigned char file_%d[] = {\n", index);
	while ((c = getc(f)) != EOF) {
		column += printf("%d,", c);
		if (column > 90) {
			putchar('\n');
			column = 0;
		}
	}
	puts("0};");
	return fclose(f) != 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	puts("#include \"base/embed.h\"");
	printf("extern const struct embedded %s[];\n", argv[1]);
	for (int i = 2; i < argc; i++)
		if (print_file(argv[i], i))
			return 1;
	printf("const struct embedded %s[] = {\n", argv[1]);
	for (int i = 2; i < argc; i++) {
		const char *slash = strrchr(argv[i], '/');

		printf("\t{ \"%s\", (const char *)file_%d, sizeof file_%d - 1 },\n",
		       slash ? slash + 1 : argv[i], i, i);
	}
	puts("\t{ 0, 0, 0 }\n};");
	return fflush(stdout) != 0;
}
