#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""profile.py ARCH OUT PROGRAM MODE N - which functions the instructions of a call are in

Boots the kernel in OUT (a build directory of scripts/build for x86_64 or arm64) with
-icount, and PROGRAM: bench.c of tools/perfctr/tests with profile-bench.patch, linked
statically. "PROGRAM ctl MODE N" does its work once for each way to call it, says GO, and
does it ten times (overflows: once) between two calls of sched_get_priority_max() that the
emulator's trace shows. Prints instructions for each function of the kernel, per round.

MODE is vread, vstop (stop and start), vopen (open to close), vfork, vover (overflow),
vsleep, vsleepm (mapped), or pstop and pover for perf's; N counters; vsample, vchain, vcpusample
(a sample) and vsfork, or with p for perf's, and nsfork: a fork without samples. With "take" it prints,
and traces nothing: what taking N counters from perf and giving them back take, and the
function call interrupts of each CPU (CPUS=4 in the environment). With "forks" PROGRAM is
forks.c (forks.patch), linked statically, with CPUS=4.
"""
import bisect
import collections
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

arch, out, program, mode, n = sys.argv[1:6]
cpus = os.environ.get("CPUS", "1")
root = os.path.dirname(os.path.abspath(__file__)) + "/../.."
tmp = tempfile.mkdtemp()


def shell(text):
    return subprocess.check_output(["bash", "-c", text], text=True)


emulator = shell(f"{root}/scripts/prove/emulator").strip()
shell(f"""set -e; cd {root}; source scripts/lib/common.sh; source scripts/lib/guests.sh
guest_root {arch} {tmp}/root; cp {program} {tmp}/root/b
tty=$(sed -n 's/.*job=//p' {tmp}/root/terminals)
echo "/b ctl {mode} {n} <$tty" >{tmp}/root/job
cd {tmp}/root; find . | cpio -o -H newc -R 0:0 --quiet | gzip -1 >{tmp}/initramfs""")
if arch == "x86_64":
    machine = ["qemu-system-x86_64", "-M", "q35", "-cpu", "Skylake-Client,-erms,pmu=on",
               "-serial", f"file:{tmp}/log", "-serial", "chardev:job"]
    console, image, nm = "ttyS0", "arch/x86/boot/bzImage", "nm"
else:
    machine = ["qemu-system-aarch64", "-M", "virt", "-cpu", "max",
               "-serial", f"file:{tmp}/log", "-device", "virtio-serial-device",
               "-device", "virtconsole,chardev=job"]
    console, image, nm = "ttyAMA0", "arch/arm64/boot/Image", "aarch64-linux-gnu-nm"
machine[0] = f"{emulator}/{machine[0]}"
icount = ["-icount", "shift=0,sleep=off"] if cpus == "1" or mode == "forks" else []
guest = subprocess.Popen(
    machine + icount +
    ["-accel", "tcg,thread=single", "-smp", cpus, "-m", "1024", "-display", "none",
     "-chardev", "stdio,id=job,signal=off", "-nodefaults", "-no-reboot",
     "-monitor", f"unix:{tmp}/monitor,server,nowait", "-D", f"{tmp}/trace",
     "-kernel", f"{out}/{image}", "-initrd", f"{tmp}/initramfs",
     "-append", f"console={console},115200 panic=-1"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
said = b""


def wait_for(word):
    global said
    while word not in said:
        more = os.read(guest.stdout.fileno(), 4096)
        if not more:
            sys.exit(f"the guest died, see {tmp}: {said.decode()}")
        said += more


if mode in ("take", "forks"):
    wait_for(b"DONE")
    guest.kill()
    sys.exit(said.decode())
wait_for(b"GO")
monitor = socket.socket(socket.AF_UNIX)
monitor.connect(f"{tmp}/monitor")
for command in ("one-insn-per-tb on", "log exec,nochain"):
    time.sleep(.5)
    monitor.sendall(command.encode() + b"\n")
time.sleep(.5)
guest.stdin.write(b"x\n")
guest.stdin.flush()
wait_for(b"DONE")
monitor.sendall(b"quit\n")
guest.wait()

symbols = []
for line in shell(f"{nm} -n {out}/vmlinux").splitlines():
    address, kind, name = line.split(None, 2)
    if kind in "tTwW" and not name.startswith((".L", "$", "__pfx")):
        symbols.append((int(address, 16), name))
starts = [address for address, _ in symbols]
trace = []
for line in open(f"{tmp}/trace", errors="replace"):
    found = re.match(r"Trace \d+: 0x[0-9a-f]+ \[[0-9a-f]+/([0-9a-f]+)/", line)
    if found:
        address = int(found.group(1), 16)
        trace.append("user" if address < 1 << 63 else
                     symbols[bisect.bisect_right(starts, address) - 1][1])
marks = [i for i in range(1, len(trace)) if "sched_get_priority_max" in trace[i] and
         "sched_get_priority_max" not in trace[i - 1]]
first = marks[0]
last = next(i for i in marks if i > first + 100)
rounds = 1 if mode.endswith("over") else 4 if mode.endswith(("sample", "chain")) else 10
print(f"{(last - first) / rounds:8.1f} in all")
for name, count in collections.Counter(trace[first:last]).most_common():
    print(f"{count / rounds:8.1f} {name}")
