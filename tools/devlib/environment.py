"""The virtual environment, the CUDA tools, and what the tests need of both.

Requirements are pinned in tools/requirements, a file for each use, and a file is
installed again only when its text has changed.
"""

import os
import subprocess
from pathlib import Path

from .steps import CommandError, capture, run

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
REQUIREMENTS = ROOT / "tools" / "requirements"


def ensure_venv():
    """Creates the environment with what the build and the tests import."""
    if not PYTHON.exists():
        run(["/usr/bin/python3", "-m", "venv", VENV], "creating .venv")
    install("base")


def install(name, *options):
    """Installs tools/requirements/NAME.txt unless it already is."""
    requirements = REQUIREMENTS / (name + ".txt")
    stamp = VENV / ("installed-" + name)
    wanted = requirements.read_text()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print("    pip install %s" % " ".join(wanted.split()), flush=True)
    command = [PYTHON, "-m", "pip", "install", "--quiet"]
    command += ["--disable-pip-version-check", *options, "-r", requirements]
    run(command, "installing Python packages")
    stamp.write_text(wanted)


def has_torch():
    """Whether the environment has PyTorch, whoever installed it."""
    probe = "import importlib.util as u; exit(u.find_spec('torch') is None)"
    return subprocess.run([str(PYTHON), "-c", probe]).returncode == 0


def cuda_tools():
    """Paths of ptxas and libdevice.10.bc: the toolkit's, else PyPI's.

    libdevice is linked into the compiler when that is built; ptxas serves the
    tests only.
    """
    homes = [os.environ.get("CUDA_HOME"), "/usr/local/cuda"]
    for home in [Path(home) for home in homes if home]:
        ptxas = home / "bin" / "ptxas"
        libdevice = home / "nvvm" / "libdevice" / "libdevice.10.bc"
        if ptxas.exists() and libdevice.exists():
            return ptxas, libdevice
    # Only the two files are wanted, not the toolkit that the packages ask for.
    install("cuda", "--no-deps")
    site = capture(
        [PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    )
    home = Path(site) / "nvidia" / "cu13"
    ptxas = home / "bin" / "ptxas"
    libdevice = home / "nvvm" / "libdevice" / "libdevice.10.bc"
    for path in (ptxas, libdevice):
        if not path.exists():
            raise CommandError("%s is missing; remove .venv and retry" % path)
    return ptxas, libdevice


def package_environment(build):
    """Variables under which the built package is imported."""
    paths = [str(build / "python")]
    if os.environ.get("PYTHONPATH"):
        paths.append(os.environ["PYTHONPATH"])
    return dict(os.environ, PYTHONPATH=os.pathsep.join(paths))
