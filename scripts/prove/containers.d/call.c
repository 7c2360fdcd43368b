// SPDX-License-Identifier: GPL-2.0
/*
 * call - calls perfctr_info() and does nothing else; ends with the error's number
 *
 * What a program does that looks for no filter.
 */
#include <errno.h>
#include <linux/perfctr.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	struct perfctr_info info;

	return syscall(__NR_perfctr_info, &info, 0, 0) ? errno : 0;
}
