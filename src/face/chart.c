/*
 * Numbers to look at, in block characters.
 *
 * Steps are counted up: the smallest value that is not nothing gets the first one, so that
 * a quiet day does not look like none.
 */
#include "face/chart.h"

#include <stdio.h>

const char *count_text(int64_t n, char out[COUNT_TEXT])
{
	static const char units[] = "kMGTPE";
	double value = (double)n;
	int unit = -1;

	while (value >= 999.5 && units[unit + 1]) {
		value /= 1000;
		unit++;
	}
	if (unit < 0)
		snprintf(out, COUNT_TEXT, "%d", (int)n);
	else
		snprintf(out, COUNT_TEXT, "%.*f%c",
			 value < 9.995	 ? 2
			 : value < 99.95 ? 1
					 : 0,
			 value, units[unit]);
	return out;
}

/* Which of so many steps; 0 is nothing. */
static int step(int64_t value, int64_t most, int steps)
{
	int at;

	if (value <= 0 || most <= 0)
		return 0;
	at = (int)((double)value / (double)most * steps + 0.999);
	return at < 1 ? 1 : at > steps ? steps : at;
}

void chart_bar(struct buf *out, int64_t value, int64_t most, int columns)
{
	static const char *const parts[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	int eighths = columns > 0 ? step(value, most, columns * 8) : 0;

	for (int i = 0; i < eighths / 8; i++)
		buf_text(out, "█");
	buf_text(out, parts[eighths % 8]);
}

void chart_line(struct buf *out, const int64_t *values, size_t count)
{
	static const char *const heights[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	int64_t most = 0;

	for (size_t i = 0; i < count; i++)
		most = values[i] > most ? values[i] : most;
	for (size_t i = 0; i < count; i++)
		buf_text(out, heights[step(values[i], most, 8)]);
}

const char *chart_shade(int64_t value, int64_t most)
{
	static const char *const shades[] = { "·", "░", "▒", "▓", "█" };

	return shades[step(value, most, 4)];
}
