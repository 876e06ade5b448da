"""The order of the libraries: each includes only what stands before it.

The linker cannot tell: static libraries resolve what is there, and headers alone
make a breach. So the includes are read.
"""

import re

from .environment import ROOT

# As in lib/CMakeLists.txt.
ORDER = (
    "Support",
    "Dialect/Fusion",
    "Dialect/Tile",
    "Analysis",
    "Interpreter",
    "Transforms",
    "Schedule",
    "Conversion",
    "Target/Codegen",
    "Target/NVPTX",
    "Runtime",
    "Target/CPU",
    "Target/Emulator",
    "Compiler",
    "CAPI",
)
# What runs a saved executable has no compiler in it.
WITHOUT_MLIR = ("Runtime",)
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def library(path):
    """The library that a path under lib/ or include/fusion/ belongs to."""
    for folder in ORDER:
        if path.startswith((folder + "/", folder + ".")):
            return folder
    return None


def breaches(paths):
    """A finding for each include that breaks the order."""
    for path in paths:
        name = str(path.relative_to(ROOT))
        own = library(re.sub(r"^(lib|include/fusion)/", "", name))
        if own is None or name.startswith(("tools/", "test/", "python/")):
            continue
        for include in INCLUDE.findall(path.read_text()):
            fault = breach(own, include)
            if fault:
                yield "%s: %s" % (name, fault)


def breach(own, include):
    if include.startswith(("mlir/", "mlir-c/", "llvm/", "llvm-c/")):
        if own in WITHOUT_MLIR:
            return "%s must not include %s" % (own, include)
        return None
    if not include.startswith("fusion/"):
        return None
    other = library(include[len("fusion/") :])
    if other is None:
        return "%s is of no library in tools/devlib/layering.py" % include
    if ORDER.index(other) > ORDER.index(own):
        return "%s must not include %s: %s stands after it" % (own, include, other)
    return None
