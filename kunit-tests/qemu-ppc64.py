# SPDX-License-Identifier: GPL-2.0
# How kunit.py boots ppc64 and ppc64le: as its own qemu_configs/powerpc.py, on
# three CPUs, and with the short firmware.
from ..qemu_config import QemuArchParams

QEMU_ARCH = QemuArchParams(linux_arch='powerpc',
                           kconfig='''
CONFIG_PPC64=y
CONFIG_HVC_CONSOLE=y''',
                           qemu_arch='ppc64',
                           kernel_path='vmlinux',
                           kernel_command_line='console=hvc0',
                           extra_qemu_params=['-M', 'pseries,x-vof=on,cap-cfpc=broken,'
                                              'cap-sbbc=broken,cap-ibs=broken,cap-ccf-assist=off',
                                              '-cpu', 'power9', '-smp', '3'])
