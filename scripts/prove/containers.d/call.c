// SPDX-License-Identifier: GPL-2.0
/*
 * call - calls perfctr_info() and does nothing else; ends with the error's number
 *
 * What a program does that looks for no filter.
 */
#include <errno.h>
#include <vperfctr.h>

int main(void)
{
	struct perfctr_info info;

	return perfctr_info(&info, NULL, NULL) ? errno : 0;
}
