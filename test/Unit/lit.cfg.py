"""Configuration of the unit tests: every executable that ends in `Test`."""

import os

import lit.formats

config.name = "Fusion-Unit"
config.suffixes = []
config.test_source_root = config.unit_binary_dir
config.test_exec_root = config.unit_binary_dir
config.test_format = lit.formats.GoogleTest(".", "Test")

for variable in ("HOME", "LD_LIBRARY_PATH", "FUSION_NUM_THREADS"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]
if config.fusion_sanitize:
    # LLVM itself is not instrumented; see ../lit.cfg.py.
    config.environment["ASAN_OPTIONS"] = "detect_container_overflow=0:detect_leaks=0"
