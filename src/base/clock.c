/*
 * Clocks, and RFC 3339 text.
 *
 * Dates are proleptic Gregorian without leap seconds, computed here and not by
 * the C library: gmtime() and timegm() read the environment, and differ at the
 * edges. Years run from 0000 to 9999; a moment outside cannot be written in
 * this form, so parsing refuses it and printing writes the nearest one.
 *
 * Time zones by name, local time and weeks are not here: what is stored is
 * UTC, and a face converts.
 */
#include "base/clock.h"

#include <time.h>

static int64_t system_now_ms(void *ctx)
{
	struct timespec now;

	(void)ctx;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct clock clock_system(void)
{
	return (struct clock){ .now_ms = system_now_ms };
}

int64_t clock_now(const struct clock *c)
{
	return c->now_ms(c->ctx);
}

int64_t clock_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- Dates ---- */

enum {
	MS_SECOND = 1000,
	MS_MINUTE = 60 * MS_SECOND,
	MS_HOUR = 60 * MS_MINUTE,
	MS_DAY = 24 * MS_HOUR,
	DAYS_400_YEARS = 146097, /* the calendar repeats after as many days */
	DAYS_TO_1970 = 719468,   /* from 0000-03-01 */
};

/* 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z */
static const int64_t first_ms = INT64_C(-62167219200000);
static const int64_t last_ms = INT64_C(253402300799999);

/*
 * Days since 1970-01-01. Years begin in March here, so that the leap day is
 * the last of its year and the lengths of the months before it follow one
 * line: (153 * m + 2) / 5 days precede the m-th month after March.
 */
int64_t days_of_date(struct date d)
{
	int month = (d.month + 9) % 12;
	int year = d.year - (d.month <= 2) + 400; /* not negative for year 0000 */
	int day_of_year = (153 * month + 2) / 5 + d.day - 1;

	return 365 * year + year / 4 - year / 100 + year / 400 + day_of_year - DAYS_400_YEARS - DAYS_TO_1970;
}

struct date date_of_days(int64_t days)
{
	int since = (int)(days + DAYS_TO_1970 + DAYS_400_YEARS); /* not negative */
	int era = since / DAYS_400_YEARS - 1;
	int day = since % DAYS_400_YEARS;
	/* Take out the leap days before `day`, of 4, 100 and 400 years. */
	int year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int day_of_year = day - (365 * year + year / 4 - year / 100);
	int month = (5 * day_of_year + 2) / 153;

	return (struct date){
		.year = era * 400 + year + (month >= 10),
		.month = month < 10 ? month + 3 : month - 9,
		.day = day_of_year - (153 * month + 2) / 5 + 1,
	};
}

int days_in_month(int year, int month)
{
	static const int8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap);
}

/* ---- Printing ---- */

static char *put_digits(char *to, int value, int digits)
{
	for (int i = digits - 1; i >= 0; i--) {
		to[i] = (char)('0' + value % 10);
		value /= 10;
	}
	return to + digits;
}

void time_print(int64_t ms, char out[TIME_TEXT + 1])
{
	struct date d;
	int64_t days;
	int rest;
	char *to;

	ms = ms < first_ms ? first_ms : ms > last_ms ? last_ms : ms;
	days = ms / MS_DAY - (ms % MS_DAY < 0);
	rest = (int)(ms - days * MS_DAY);
	d = date_of_days(days);

	to = put_digits(out, d.year, 4);
	*to++ = '-';
	to = put_digits(to, d.month, 2);
	*to++ = '-';
	to = put_digits(to, d.day, 2);
	*to++ = 'T';
	to = put_digits(to, rest / MS_HOUR, 2);
	*to++ = ':';
	to = put_digits(to, rest / MS_MINUTE % 60, 2);
	*to++ = ':';
	to = put_digits(to, rest / MS_SECOND % 60, 2);
	*to++ = '.';
	to = put_digits(to, rest % MS_SECOND, 3);
	*to++ = 'Z';
	*to = '\0';
}

/* ---- Parsing: each step takes its part from the front of *s ---- */

static bool take_digits(struct str *s, size_t digits, int *out)
{
	int value = 0;

	if (s->n < digits)
		return false;
	for (size_t i = 0; i < digits; i++) {
		if (s->p[i] < '0' || s->p[i] > '9')
			return false;
		value = value * 10 + (s->p[i] - '0');
	}
	*s = str_sub(*s, digits, SIZE_MAX);
	*out = value;
	return true;
}

static bool take_one_of(struct str *s, struct str bytes)
{
	if (s->n == 0 || !str_has_byte(bytes, s->p[0]))
		return false;
	*s = str_sub(*s, 1, SIZE_MAX);
	return true;
}

static bool take_date(struct str *s, struct date *d)
{
	return take_digits(s, 4, &d->year) && take_one_of(s, STR("-")) &&
	       take_digits(s, 2, &d->month) && take_one_of(s, STR("-")) &&
	       take_digits(s, 2, &d->day) &&
	       d->month >= 1 && d->month <= 12 &&
	       d->day >= 1 && d->day <= days_in_month(d->year, d->month);
}

/* Second 60 needs no care: it adds up to the first of the next minute. */
static bool take_clock(struct str *s, int *ms)
{
	int hour, minute, second;

	if (!take_digits(s, 2, &hour) || !take_one_of(s, STR(":")) ||
	    !take_digits(s, 2, &minute) || !take_one_of(s, STR(":")) ||
	    !take_digits(s, 2, &second) || hour > 23 || minute > 59 || second > 60)
		return false;
	*ms = hour * MS_HOUR + minute * MS_MINUTE + second * MS_SECOND;
	return true;
}

/* Nothing, or a point and digits, of which three count. */
static bool take_fraction(struct str *s, int *ms)
{
	int weight = 100, digit;

	*ms = 0;
	if (!take_one_of(s, STR(".")))
		return true;
	if (!take_digits(s, 1, &digit))
		return false;
	do {
		*ms += digit * weight;
		weight /= 10;
	} while (take_digits(s, 1, &digit));
	return true;
}

static bool take_offset(struct str *s, int *ms)
{
	int sign, hour, minute;

	*ms = 0;
	if (take_one_of(s, STR("Zz")))
		return true;
	sign = s->n && s->p[0] == '-' ? -1 : 1;
	if (!take_one_of(s, STR("+-")) || !take_digits(s, 2, &hour) || !take_one_of(s, STR(":")) ||
	    !take_digits(s, 2, &minute) || hour > 23 || minute > 59)
		return false;
	*ms = sign * (hour * MS_HOUR + minute * MS_MINUTE);
	return true;
}

bool time_parse(struct str text, int64_t *ms)
{
	int clock_ms, fraction_ms, offset_ms;
	struct date d;
	int64_t result;

	if (!take_date(&text, &d) || !take_one_of(&text, STR("Tt ")) || !take_clock(&text, &clock_ms) ||
	    !take_fraction(&text, &fraction_ms) || !take_offset(&text, &offset_ms) || text.n)
		return false;
	result = days_of_date(d) * MS_DAY + clock_ms + fraction_ms - offset_ms;
	if (result < first_ms || result > last_ms)
		return false;
	*ms = result;
	return true;
}
