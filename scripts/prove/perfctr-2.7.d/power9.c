// SPDX-License-Identifier: GPL-2.0
/*
 * power9.c - what the examples of perfctr 2.7 would have for a POWER9
 *
 * They choose events for the processors of 2005 only. Their own do_setup(), which is
 * called ppc64_setup() here, still chooses the counter and the rest of the control;
 * event 0x02 of each of the first four counters is "instructions".
 */
#include <stdlib.h>
#include "libperfctr.h"

void ppc64_setup(const struct perfctr_info *info, struct perfctr_cpu_control *control);

void do_setup(const struct perfctr_info *info, struct perfctr_cpu_control *control)
{
	ppc64_setup(info, control);
	if (info->cpu_type != PERFCTR_PPC64_POWER9 || control->ppc64.mmcr1)
		abort();
	control->ppc64.mmcr1 = 0x02ULL << (24 - 8 * control->pmc_map[0]);
}
