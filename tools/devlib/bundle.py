"""Packs a relocatable release archive: unpack anywhere, nothing else is needed.

The library and the tools hold all of LLVM; only the Python binding depends on the
Python at hand, and install-python.sh compiles that one file where it is wanted.
"""

import io
import lzma
import re
import tarfile
from pathlib import Path

from .environment import PYTHON, ROOT
from .steps import CommandError, capture

DIST = ROOT / "dist"
MAXIMUM_MIB = 40
# The branch filter is made for machine code, of which nearly all of it consists.
FILTERS = (
    {"id": lzma.FILTER_X86},
    {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME},
)
TOOLS = ("fusion-opt", "fusion-compile", "fusion-run")
# Folders of the repository and what is taken of them.
SOURCES = (
    ("include/fusion-c", ("*.h",)),
    ("python/fusion", ("*.py", "*.pyi", "py.typed")),
    ("python/fusion.dist-info", ("METADATA", "entry_points.txt")),
    ("python/src", ("*.cpp", "*.h")),
    ("python/tests", ("*.py",)),
    ("test/Execution", ("*.mlir", "*.test")),
    ("examples", ("*.py",)),
    ("benchmarks", ("*.py", "*.md")),
)


def version():
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(fusion VERSION ([0-9.]+)", text).group(1)


def members(build):
    """Pairs of a file and its name in the archive."""
    yield build / "lib" / "libfusion.so", "lib/libfusion.so"
    for tool in TOOLS:
        yield build / "bin" / tool, "bin/" + tool
    for script in ("install-python.sh", "test-release.py"):
        yield ROOT / "tools" / script, script
    for name in ("LICENSE", "README.md"):
        yield ROOT / name, name
    for folder, patterns in SOURCES:
        for pattern in patterns:
            for path in sorted((ROOT / folder).rglob(pattern)):
                yield path, str(path.relative_to(ROOT))
    # Headers only, so that a machine without a network can compile the binding.
    pybind11 = Path(
        capture([PYTHON, "-c", "import pybind11 as p; print(p.__path__[0])"])
    )
    for path in sorted((pybind11 / "include").rglob("*.h")):
        yield path, "third_party/pybind11/" + str(path.relative_to(pybind11))
    licence = next(pybind11.parent.glob("pybind11-*.dist-info/**/LICENSE"))
    yield licence, "third_party/pybind11/LICENSE"


def add(archive, path, name, top):
    """Adds a file with nothing in it that depends on who packs it and when."""
    data = path.read_bytes()
    info = tarfile.TarInfo("%s/%s" % (top, name))
    info.size = len(data)
    info.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
    archive.addfile(info, io.BytesIO(data))


def write(build):
    top = "fusion-%s-linux-x86_64" % version()
    target = DIST / (top + ".tar.xz")
    DIST.mkdir(exist_ok=True)
    files = list(members(build))
    for path, _ in files:
        if not path.exists():
            raise CommandError("%s is not built" % path)
    print("    packing %d files" % len(files), flush=True)
    with (
        lzma.open(target, "wb", filters=FILTERS) as output,
        tarfile.open(fileobj=output, mode="w|") as archive,
    ):
        for path, name in files:
            add(archive, path, name, top)
    size = target.stat().st_size / 2**20
    print("    %s, %.1f MiB" % (target.relative_to(ROOT), size))
    if size > MAXIMUM_MIB:
        raise CommandError("the archive is larger than %d MiB" % MAXIMUM_MIB)
