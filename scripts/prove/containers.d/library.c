// SPDX-License-Identifier: GPL-2.0
/*
 * library - counts its own instructions with libperfctr, and prints them, or the error
 */
#include <libperfctr.h>
#include <stdio.h>

int main(void)
{
	struct perfctr *counters = perfctr_open("instructions");

	if (!counters) {
		printf("%m: %s\n", perfctr_error());
		return 1;
	}
	for (volatile int i = 0; i < 100000; i++)
		;
	printf("%llu\n", (unsigned long long)perfctr_read(counters, 0));
	return 0;
}
