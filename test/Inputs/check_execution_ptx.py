"""Compiles every execution test for each architecture and assembles the PTX.

usage: check_execution_ptx.py PTXAS FOLDER ARCH...

Prints the number of files and architectures; fails as check_ptx.py does.
"""

import pathlib
import subprocess
import sys
import tempfile

import check_ptx


def main(ptxas, folder, *archs):
    graphs = sorted(pathlib.Path(folder).rglob("*.mlir"))
    with tempfile.TemporaryDirectory() as place:
        path = str(pathlib.Path(place) / "kernels.ptx")
        for graph in graphs:
            for arch in archs:
                command = ["fusion-compile", str(graph), "--no-cache"]
                command += ["--target=" + arch, "-o", path]
                subprocess.run(command, check=True, capture_output=True)
                for part in pathlib.Path(place).glob("*.ptx"):
                    check_ptx.main(ptxas, arch, str(part))
                    part.unlink()
    print("%d graphs for %d architectures" % (len(graphs), len(archs)))


if __name__ == "__main__":
    main(*sys.argv[1:])
