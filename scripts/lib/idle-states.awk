# SPDX-License-Identifier: GPL-2.0
#
# idle-states.awk - gives the CPUs of a device tree an idle state. For guests.sh.

/^\tcpus \{/ { cpus = 1 }
cpus && /cpu-map \{/ {
	print "idle-states { entry-method = \"psci\"; cpu-sleep {"
	print "phandle = <0x9000>; compatible = \"arm,idle-state\";"
	print "arm,psci-suspend-param = <0x10000>; min-residency-us = <10>;"
	print "entry-latency-us = <1>; exit-latency-us = <1>; }; };"
	cpus = 0
}
{ print }
/device_type = "cpu";/ { print "cpu-idle-states = <0x9000>;" }
