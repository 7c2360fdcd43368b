# SPDX-License-Identifier: GPL-2.0
# How kunit.py boots arm64: as its own qemu_configs/arm64.py, on three CPUs with
# 32-bit programs and a PMU.
from ..qemu_config import QemuArchParams

QEMU_ARCH = QemuArchParams(linux_arch='arm64',
                           kconfig='''
CONFIG_SERIAL_AMBA_PL011=y
CONFIG_SERIAL_AMBA_PL011_CONSOLE=y''',
                           qemu_arch='aarch64',
                           kernel_path='arch/arm64/boot/Image',
                           kernel_command_line='console=ttyAMA0',
                           extra_qemu_params=['-M', 'virt', '-cpu', 'cortex-a57', '-smp', '3'])
