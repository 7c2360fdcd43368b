# SPDX-License-Identifier: GPL-2.0
# How kunit.py boots riscv64: as its own qemu_configs/riscv.py, on three CPUs with
# counters that have filters and interrupts. scripts/kunit adds the firmware.
from ..qemu_config import QemuArchParams

QEMU_ARCH = QemuArchParams(linux_arch='riscv',
                           kconfig='''
CONFIG_SERIAL_8250=y
CONFIG_SERIAL_8250_CONSOLE=y
CONFIG_SERIAL_OF_PLATFORM=y''',
                           qemu_arch='riscv64',
                           kernel_path='arch/riscv/boot/Image',
                           kernel_command_line='console=ttyS0',
                           extra_qemu_params=['-M', 'virt', '-cpu',
                                              'rv64,sscofpmf=on,smcntrpmf=on', '-smp', '3'])
