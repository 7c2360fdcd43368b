// SPDX-License-Identifier: GPL-2.0
#include <libperfctr.h>
#include <counter_page.h>
int main(void)
{
	struct vperfctr_control control = {};
	struct counter_pages pages;
	struct counter_names names;
	__u32 instance = 1;
	__u64 values[1], sum;
	control.cpu_control.tsc_on = 1;
	perfctr_read(perfctr_open("instructions"), 0);
	if (!counter_pages_open(&pages, 0) && !counter_pages_names(&pages, &names, 0))
		counter_pages_read_sums(&pages, &instance, 1, values, &sum);
	return vperfctr_control(vperfctr_open(0, 1), &control);
}
