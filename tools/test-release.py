"""Runs the tests that came along with an unpacked release, without LLVM's tools.

usage: test-release.py [--gpu cuda|emulator] [--no-python]

Runs the commands of test/Execution as lit would, on the target that stands for a
GPU. Their numbers are checked by fusion-run itself; what FileCheck would check of
the text is left out where there is no FileCheck. Then runs the tests of the Python
package, where install-python.sh has compiled the binding and pytest is installed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent
RUN = re.compile(r"RUN:\s*(.*?)(\\)?$", re.MULTILINE)
REQUIRES = re.compile(r"REQUIRES:\s*(.*)")


def commands(text):
    """The RUN lines, continued ones joined."""
    joined = ""
    for line, continues in RUN.findall(text):
        joined += line + " "
        if not continues:
            yield joined.strip()
            joined = ""


def substituted(command, path, scratch, gpu):
    for name, value in (
        ("%check-ptx", "true"),
        ("%gpu", gpu),
        ("%python", sys.executable),
        ("%s", path),
        ("%S", path.parent),
        ("%t", scratch),
    ):
        command = re.sub(re.escape(name) + r"\b", lambda _: str(value), command)
    if not shutil.which("FileCheck"):
        command = re.sub(r"\|\s*FileCheck\b[^|&;]*", "", command)
    return re.sub(r"(^|[;&|]\s*)not\s", r"\1! ", command)


def run_file(path, gpu):
    """Runs one file; returns its verdict and, for a failure, the output."""
    text = path.read_text()
    features = {gpu} if gpu == "cuda" else set()
    required = REQUIRES.search(text)
    if required and not set(re.split(r"[,\s]+", required[1].strip())) <= features:
        return "skipped", ""
    variables = dict(os.environ, PATH=f"{ROOT / 'bin'}{os.pathsep}{os.environ['PATH']}")
    with tempfile.TemporaryDirectory() as folder:
        for command in commands(text):
            shell = "set -o pipefail; " + substituted(
                command, path, Path(folder) / "t", gpu
            )
            run = subprocess.run(
                ["bash", "-c", shell], env=variables, capture_output=True, text=True
            )
            if run.returncode != 0:
                return "failed", f"{command}\n{run.stdout}{run.stderr}"
    return "passed", ""


def run_execution_tests(gpu):
    counts = dict(passed=0, failed=0, skipped=0)
    files = sorted((ROOT / "test" / "Execution").rglob("*.mlir"))
    with ThreadPoolExecutor() as pool:
        results = pool.map(lambda path: run_file(path, gpu), files)
        for path, (verdict, output) in zip(files, results):
            counts[verdict] += 1
            if verdict == "failed":
                print(f"FAILED {path.relative_to(ROOT)}\n{output}", flush=True)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpu", choices=("cuda", "emulator"), default="emulator")
    parser.add_argument("--no-python", action="store_true")
    options = parser.parse_args()
    counts = run_execution_tests(options.gpu)
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    code = 1 if counts["failed"] else 0
    if not options.no_python:
        variables = dict(os.environ, PYTHONPATH=str(ROOT / "python"))
        command = [sys.executable, "-m", "pytest", "-q", str(ROOT / "python/tests")]
        code |= subprocess.run(command, env=variables).returncode
    return code


if __name__ == "__main__":
    sys.exit(main())
