"""The checks of `tools/dev lint`: each yields findings, and none may be left."""

import re
import subprocess

from . import docs, environment, layering
from .environment import ROOT
from .steps import CommandError, capture

MAXIMUM_LINES = 600
SOURCES = (".cpp", ".h", ".td", ".py", ".mlir", ".pyi", ".cmake")
FORBIDDEN = re.compile(r"\b(TODO|FIXME|XXX)\b")


def files(*suffixes):
    """Files of the repository, committed or about to be, by their ending."""
    # The owner of a checkout is often not who runs continuous integration.
    command = ["git", "-c", "safe.directory=*", "-C", ROOT]
    command += ["ls-files", "-co", "--exclude-standard"]
    names = sorted(set(capture(command).splitlines()))
    paths = [ROOT / name for name in names if name.endswith(suffixes)]
    return [path for path in paths if path.exists()]


def relative(path):
    return path.relative_to(ROOT)


def lengths():
    """A file past 600 lines asks to become two."""
    for path in files(*SOURCES):
        count = len(path.read_text().splitlines())
        if count > MAXIMUM_LINES:
            yield "%s: %d lines, more than %d; split it" % (
                relative(path),
                count,
                MAXIMUM_LINES,
            )


def forbidden_words():
    """Unfinished work is described where work is planned, not in the source."""
    for path in files(*SOURCES):
        if path.name == "lint.py":
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = FORBIDDEN.search(line)
            if match:
                yield "%s:%d: forbidden word %s" % (
                    relative(path),
                    number,
                    match.group(),
                )


def whitespace():
    """Trailing blanks and a missing newline at the end of a file."""
    for path in files(*SOURCES, ".txt", ".md", "tools/dev", ".ci/run"):
        text = path.read_text()
        if text and not text.endswith("\n"):
            yield "%s: no newline at the end" % relative(path)
        for number, line in enumerate(text.splitlines(), 1):
            if line != line.rstrip():
                yield "%s:%d: trailing blanks" % (relative(path), number)


def clang_format(fix=False):
    """C++ in LLVM's style."""
    sources = files(".cpp", ".h")
    if fix:
        yield from findings(["clang-format-22", "-i", *sources])
        return
    check = ["clang-format-22", "--dry-run", "-Werror", *sources]
    lines = findings(check, r":\d+:\d+: error")
    for name in sorted({line.split(":")[0] for line in lines}):
        yield "%s is not formatted; run tools/dev lint --fix" % name


def ruff(fix=False):
    """Python: formatting, unused names, order of imports."""
    tool = environment.VENV / "bin" / "ruff"
    options = ["--quiet"]
    if fix:
        yield from findings([tool, "check", *options, "--fix", ROOT])
        yield from findings([tool, "format", *options, ROOT])
        return
    check = [tool, "check", *options, "--output-format=concise", ROOT]
    yield from findings(check)
    style = [tool, "format", "--check", "--output-format=concise", ROOT]
    lines = findings(style, "unformatted")
    for name in sorted({line.split(":")[0] for line in lines}):
        yield "%s is not formatted; run tools/dev lint --fix" % name


def findings(command, pattern="."):
    """Lines of a failed command's output that match the pattern."""
    run = subprocess.run(
        [str(word) for word in command],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if run.returncode == 0:
        return
    lines = run.stdout.splitlines()
    yield from [line for line in lines if re.search(pattern, line)] or lines


def layers():
    """A library includes only what stands before it."""
    yield from layering.breaches(files(".cpp", ".h"))


def generated_pages():
    """The pages that tools/dev docs writes are current."""
    yield from docs.stale()


CHECKS = (
    lengths,
    forbidden_words,
    whitespace,
    layers,
    clang_format,
    ruff,
    generated_pages,
)


def main(fix=False):
    """Runs every check, or with `fix` first formats what can be formatted."""
    if not (ROOT / ".git").exists():
        raise CommandError("lint needs a git checkout: it asks git for the files")
    if fix:
        for finding in (*clang_format(fix=True), *ruff(fix=True)):
            print("    " + finding)
        docs.write()
    count = 0
    for check in CHECKS:
        found = list(check())
        count += len(found)
        print("    %-16s %s" % (check.__name__, len(found) or "ok"))
        for finding in found:
            print("      " + finding)
    print("lint: %d findings" % count if count else "lint: ok", flush=True)
    return 1 if count else 0
