// SPDX-License-Identifier: GPL-2.0
#include <vperfctr.h>
int main(void)
{
	struct vperfctr_control control = {};
	control.cpu_control.tsc_on = 1;
	return vperfctr_control(vperfctr_open(0, 1), &control);
}
