"""Assembles a PTX file and fails on what a kernel must not do.

usage: check_ptx.py PTXAS ARCH FILE

A spilled register or a serialized wgmma is a defect of the generator that
ptxas only warns of, so both fail here.
"""

import re
import subprocess
import sys


def main(ptxas, arch, path):
    command = [ptxas, "-v", "-arch=" + arch, "-o", "/dev/null", path]
    run = subprocess.run(command, capture_output=True, text=True)
    log = run.stdout + run.stderr
    faults = []
    if run.returncode != 0:
        faults.append("ptxas failed")
    spilled = re.findall(r"(\d+) bytes spill (?:stores|loads)", log)
    if any(int(count) for count in spilled):
        faults.append("registers are spilled")
    if re.search(r"wgmma.*serialized", log):
        faults.append("wgmma is serialized")
    if faults:
        sys.exit("%s: %s\n%s" % (path, ", ".join(faults), log))
    print("%s: assembled for %s" % (path, arch))


if __name__ == "__main__":
    main(*sys.argv[1:])
