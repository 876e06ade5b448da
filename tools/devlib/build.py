"""Configures and builds a preset."""

import json
import os

from . import environment
from .environment import ROOT
from .steps import CommandError, capture, run


def build_directory(preset):
    """Where CMakePresets.json puts the build of a preset."""
    presets = json.loads((ROOT / "CMakePresets.json").read_text())
    for entry in presets["configurePresets"]:
        if entry["name"] == preset and "binaryDir" in entry:
            return ROOT / entry["binaryDir"].replace("${sourceDir}/", "")
    raise CommandError("no preset '%s' in CMakePresets.json" % preset)


def configure(preset):
    ptxas, libdevice = environment.cuda_tools()
    pybind11 = capture([environment.PYTHON, "-m", "pybind11", "--cmakedir"])
    run(
        [
            "cmake",
            "--preset",
            preset,
            "--log-level=NOTICE",
            "-DPython3_EXECUTABLE=%s" % environment.PYTHON,
            "-DPython_EXECUTABLE=%s" % environment.PYTHON,
            "-Dpybind11_DIR=%s" % pybind11,
            "-DFUSION_PTXAS=%s" % ptxas,
            "-DFUSION_LIBDEVICE=%s" % libdevice,
        ],
        "configuring",
        cwd=ROOT,
    )


def build(preset, targets=()):
    """Builds targets, by default all; Ninja shows how far it is."""
    command = ["cmake", "--build", "--preset", preset]
    if os.environ.get("FUSION_JOBS"):
        command += ["-j", os.environ["FUSION_JOBS"]]
    if targets:
        command += ["--target", *targets]
    status = dict(os.environ, NINJA_STATUS="[%f/%t, %es] ")
    run(command, "the build", cwd=ROOT, env=status)
