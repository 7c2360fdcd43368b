// SPDX-License-Identifier: GPL-2.0
/*
 * work - executes 600 million instructions in hot() and 200 million in warm(), and a few more
 *
 * Without a C library, which does not execute the same number of instructions in each
 * run. With frame pointers. For x86-64.
 */
__asm__(".globl _start\n"
	".type hot, @function\n"
	"hot:	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	mov $30000, %ecx\n"
	"1:	dec %ecx\n"
	"	jnz 1b\n"
	"	pop %rbp\n"
	"	ret\n"
	".size hot, . - hot\n"
	".type warm, @function\n"
	"warm:	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	mov $10000, %ecx\n"
	"1:	dec %ecx\n"
	"	jnz 1b\n"
	"	pop %rbp\n"
	"	ret\n"
	".size warm, . - warm\n"
	".type _start, @function\n"
	"_start:	xor %ebp, %ebp\n"
	"	mov $10000, %ebx\n"
	"2:	call hot\n"
	"	call warm\n"
	"	dec %ebx\n"
	"	jnz 2b\n"
	"	xor %edi, %edi\n"
	"	mov $60, %eax\n"
	"	syscall\n"
	".size _start, . - _start\n");
