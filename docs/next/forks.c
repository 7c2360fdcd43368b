// SPDX-License-Identifier: GPL-2.0
/*
 * What counting adds to fork, exit and wait on several CPUs at the same time, for
 * profile.py. One worker for each CPU forks, with a counter that children inherit, of
 * vperfctr or of perf, or without; an event of perf for the CPU counts the instructions
 * of both modes. Prints what a fork takes, of all workers on average.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vperfctr.h"

#define FORKS 300
#ifdef __x86_64__
#define INSTRUCTIONS 0x4300c0
#else
#define INSTRUCTIONS 0x8
#endif

enum how { NOTHING, VPERFCTR, PERF };

struct shared {
	volatile int ready, done;
	uint64_t taken[64];
};

static void must(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static void do_forks(int n)
{
	pid_t pid;

	while (n--) {
		pid = fork();
		must(pid >= 0, "fork");
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

static int open_perf(pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.inherit = cpu < 0,
	};
	int fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1, 0);

	must(fd >= 0, "perf_event_open");
	return fd;
}

static void work(struct shared *shared, int cpu, int nr, enum how how)
{
	struct vperfctr_control control = {
		.cpu_control = {
			.nractrs = 1,
			.pmc_map = { PERFCTR_PMC_ANY },
			.evntsel = { INSTRUCTIONS },
		},
	};
	uint64_t before = 0, after = 0;
	cpu_set_t set;
	int meter;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must(!sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
	meter = open_perf(-1, cpu);
	if (how == VPERFCTR)
		must(!vperfctr_control(vperfctr_open(0, 1), &control), "vperfctr");
	else if (how == PERF)
		open_perf(0, -1);
	do_forks(50);
	__sync_fetch_and_add(&shared->ready, 1);
	while (shared->ready < nr)
		;
	must(read(meter, &before, 8) == 8, "read");
	do_forks(FORKS);
	must(read(meter, &after, 8) == 8, "read");
	shared->taken[cpu] = (after - before) / FORKS;
	/* So that the others are not alone */
	__sync_fetch_and_add(&shared->done, 1);
	while (shared->done < nr)
		do_forks(1);
	exit(0);
}

int main(void)
{
	static const char *const names[] = { "nothing", "vperfctr", "perf" };
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int how, nr, i, round;
	uint64_t sum;

	for (round = 0; round < 3; round++)
		for (how = NOTHING; how <= PERF; how++)
			for (nr = 1; nr <= sysconf(_SC_NPROCESSORS_ONLN); nr *= 2) {
				shared->ready = shared->done = 0;
				for (i = 0; i < nr; i++)
					if (!fork())
						work(shared, i, nr, how);
				while (wait(NULL) > 0)
					;
				for (i = 0, sum = 0; i < nr; i++)
					sum += shared->taken[i];
				printf("%s counts, %d CPUs: %lu\n", names[how], nr,
				       (unsigned long)(sum / nr));
			}
	puts("DONE");
	fflush(stdout);
	for (;;)
		pause();
}
