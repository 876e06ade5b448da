"""Runs the lit, unit and Python tests and counts them together."""

import json
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

from . import environment
from .environment import ROOT
from .steps import capture, elapsed

# What lit's result codes mean to a reader of the last line.
LIT_CODES = {
    "PASS": "passed",
    "FLAKYPASS": "passed",
    "XFAIL": "passed",
    "UNSUPPORTED": "skipped",
    "SKIPPED": "skipped",
    "EXCLUDED": "skipped",
}


def run_lit(build, arguments=()):
    """Text, execution and unit tests."""
    lit = Path(capture(["llvm-config-22", "--bindir"])) / "lit"
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "lit.json"
        command = [environment.PYTHON, lit, "-s", "-v", "-o", report]
        command += [*arguments, build / "test"]
        code = subprocess.run([str(word) for word in command]).returncode
        if not report.exists():
            return Counter(failed=1)
        tests = json.loads(report.read_text())["tests"]
    counts = Counter(LIT_CODES.get(test["code"], "failed") for test in tests)
    return at_least_one_failure(counts, code)


def run_pytest(build, arguments=()):
    """The tests of the Python package."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "pytest.xml"
        # A test must not find what an earlier run has compiled.
        variables = environment.package_environment(build)
        variables["FUSION_CACHE_DIR"] = str(Path(folder) / "cache")
        command = [environment.PYTHON, "-m", "pytest", "-q", "-rs"]
        command += ["-n", "logical", "--dist", "worksteal"]
        command += ["--junitxml=%s" % report, *arguments, "python/tests"]
        code = subprocess.run(
            [str(word) for word in command], cwd=ROOT, env=variables
        ).returncode
        if not report.exists():
            return Counter(failed=1)
        suites = list(ElementTree.parse(report).getroot().iter("testsuite"))
    counts = Counter()
    for suite in suites:
        failed = int(suite.get("failures")) + int(suite.get("errors"))
        skipped = int(suite.get("skipped"))
        counts["failed"] += failed
        counts["skipped"] += skipped
        counts["passed"] += int(suite.get("tests")) - failed - skipped
    return at_least_one_failure(counts, code)


def at_least_one_failure(counts, code):
    """A runner that fails without a failed test still counts as a failure."""
    if code != 0 and counts["failed"] == 0:
        counts["failed"] = 1
    return counts


def summary(results, notes):
    """Prints a line for each runner, what was left out, and the sum last."""
    total = Counter()
    print("==> Results (%s elapsed)" % elapsed())
    for name, counts in results:
        total += counts
        print("    %-12s %s" % (name, describe(counts)))
    for note in notes:
        print("    " + note)
    print(describe(total), flush=True)
    return 1 if total["failed"] else 0


def describe(counts):
    return "%d passed, %d failed, %d skipped" % (
        counts["passed"],
        counts["failed"],
        counts["skipped"],
    )
