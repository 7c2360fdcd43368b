// SPDX-License-Identifier: GPL-2.0
#include <libperfctr.h>
int main(void)
{
	struct vperfctr_control control = {};
	control.cpu_control.tsc_on = 1;
	perfctr_read(perfctr_open("instructions"), 0);
	return vperfctr_control(vperfctr_open(0, 1), &control);
}
