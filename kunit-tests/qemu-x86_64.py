# SPDX-License-Identifier: GPL-2.0
# How kunit.py boots x86_64: as its own qemu_configs/x86_64.py, on three CPUs, of which
# the last may do without a tick.
from ..qemu_config import QemuArchParams

QEMU_ARCH = QemuArchParams(linux_arch='x86_64',
                           kconfig='''
CONFIG_SERIAL_8250=y
CONFIG_SERIAL_8250_CONSOLE=y''',
                           qemu_arch='x86_64',
                           kernel_path='arch/x86/boot/bzImage',
                           kernel_command_line='console=ttyS0 nohz_full=2',
                           extra_qemu_params=['-M', 'q35', '-smp', '3'])
