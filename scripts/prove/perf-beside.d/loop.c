// SPDX-License-Identifier: GPL-2.0
/*
 * loop N - executes 2 * N instructions and 12 more in a loop, and exits
 *
 * Without a C library, which does not execute the same number of instructions
 * in each run. For x86-64.
 */
__asm__(".globl _start\n"
	"_start:\n"
	"	mov 16(%rsp), %rsi\n"		/* argv[1] */
	"	xor %ecx, %ecx\n"
	"digit:	movzbl (%rsi), %eax\n"
	"	inc %rsi\n"
	"	sub $'0', %eax\n"
	"	jb done\n"
	"	imul $10, %rcx, %rcx\n"
	"	add %rax, %rcx\n"
	"	jmp digit\n"
	"done:	inc %rcx\n"
	"again:	dec %rcx\n"
	"	jnz again\n"
	"	xor %edi, %edi\n"
	"	mov $60, %eax\n"
	"	syscall\n");
