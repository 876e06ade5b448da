"""Configuration of the lit tests.

Substitutions beyond lit's own and the tools by their names:
  %python     the Python that CMake found
  %gpu        the target that stands for a GPU: `cuda` where a device is found,
              `emulator` elsewhere or with `--param gpu=emulator`
  %check-ptx  `%check-ptx sm_90a FILE` assembles PTX with ptxas and fails on an
              error, a register spill or a serialized wgmma
  %check-execution-ptx  `%check-execution-ptx FOLDER ARCH...` does so for every
              graph in a folder and each architecture
Features: `ptxas`, `cuda`, `asan`.
"""

import atexit
import ctypes
import os
import shutil
import tempfile

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst


def has_cuda_device():
    """Asks the driver, the same way as the runtime does."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return (
        driver.cuInit(0) == 0
        and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
        and count.value > 0
    )


config.name = "Fusion"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.fusion_binary_dir, "test")

# A test must find nothing that an earlier compiler has compiled, and must leave
# the user's own cache alone.
cache = tempfile.mkdtemp(prefix="fusion-lit-")
atexit.register(shutil.rmtree, cache, ignore_errors=True)
config.environment["FUSION_CACHE_DIR"] = cache
llvm_config.with_system_environment(
    ["HOME", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "FUSION_NUM_THREADS"]
)

if config.fusion_sanitize:
    config.available_features.add("asan")
    # LLVM itself is not instrumented: its containers are annotated on our side
    # of the boundary only.
    config.environment["ASAN_OPTIONS"] = "detect_container_overflow=0:detect_leaks=0"

gpu = lit_config.params.get("gpu")
if gpu is None:
    gpu = "cuda" if has_cuda_device() else "emulator"
if gpu == "cuda":
    config.available_features.add("cuda")

if config.ptxas_executable and os.path.exists(config.ptxas_executable):
    config.available_features.add("ptxas")

check_ptx = os.path.join(config.test_source_root, "Inputs", "check_ptx.py")
check_execution_ptx = os.path.join(
    config.test_source_root, "Inputs", "check_execution_ptx.py"
)
config.substitutions += [
    ("%python", '"%s"' % config.python_executable),
    ("%gpu", gpu),
    (
        "%check-execution-ptx",
        '"%s" "%s" "%s"'
        % (config.python_executable, check_execution_ptx, config.ptxas_executable),
    ),
    (
        "%check-ptx",
        '"%s" "%s" "%s"'
        % (config.python_executable, check_ptx, config.ptxas_executable),
    ),
]

llvm_config.with_environment(
    "PATH",
    [config.fusion_tools_dir, config.llvm_tools_dir],
    append_path=True,
)
llvm_config.use_default_substitutions()
llvm_config.add_tool_substitutions(
    [
        ToolSubst("split-file", unresolved="ignore"),
        ToolSubst("fusion-opt", unresolved="ignore"),
        ToolSubst("fusion-compile", unresolved="ignore"),
        ToolSubst("fusion-run", unresolved="ignore"),
        ToolSubst("fusion-reduce", unresolved="ignore"),
        ToolSubst("fusion-lsp-server", unresolved="ignore"),
    ],
    [config.fusion_tools_dir, config.llvm_tools_dir],
)
