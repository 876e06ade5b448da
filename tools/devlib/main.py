"""The command line of tools/dev; help.txt is its manual."""

import argparse
import os
import sys

from . import bundle, docs, environment, lint, testing
from .build import build, build_directory, configure
from .environment import PYTHON, ROOT
from .steps import CommandError, Steps, run


def prepare(steps, preset, targets=()):
    """The two steps that every command with a build begins with."""
    steps.start("Python environment and CUDA files")
    environment.ensure_venv()
    environment.cuda_tools()
    steps.start("Build, preset %s" % preset)
    configure(preset)
    build(preset, targets)
    return build_directory(preset)


def command_build(options):
    prepare(Steps(2), options.preset, options.arguments)


def command_test(options):
    # The sanitizers' run time would have to be loaded into Python first.
    sanitized = options.preset == "asan"
    torch = not options.no_torch and not sanitized
    steps = Steps(4 + torch)
    folder = prepare(steps, options.preset, ["all", "FusionUnitTests"])
    notes = []
    if torch:
        steps.start("PyTorch, 5.5 GB when it is installed")
        environment.install("torch")
    elif not sanitized and not environment.has_torch():
        notes.append("--no-torch: every test that needs PyTorch was skipped")
    steps.start("lit and unit tests")
    results = [("lit and unit", testing.run_lit(folder))]
    steps.start("Python tests")
    if sanitized:
        notes.append("asan: the Python tests were not run")
    else:
        results.append(("Python", testing.run_pytest(folder)))
    return testing.summary(results, notes)


def command_demo(options):
    steps = Steps(3)
    folder = prepare(steps, options.preset)
    steps.start("Demo")
    run(
        [PYTHON, ROOT / "examples" / "demo.py", *options.arguments],
        "the demo",
        cwd=ROOT,
        env=environment.package_environment(folder),
    )


def command_python(words):
    folder = build_directory("dev")
    if not PYTHON.exists() or not folder.exists():
        prepare(Steps(2), "dev")
    variables = environment.package_environment(folder)
    os.execve(PYTHON, [str(PYTHON), *words], variables)


def command_bench(options):
    if not options.arguments or options.arguments[0] not in ("cpu", "gpu"):
        raise CommandError("bench takes cpu or gpu, then the script's arguments")
    steps = Steps(4)
    folder = prepare(steps, options.preset)
    steps.start("PyTorch, 5.5 GB when it is installed")
    environment.install("torch")
    steps.start("Benchmarks")
    script = {"cpu": "cpu.py", "gpu": "run.py"}[options.arguments[0]]
    run(
        [PYTHON, ROOT / "benchmarks" / script, *options.arguments[1:]],
        "the benchmark",
        env=environment.package_environment(folder),
    )


def command_lint(options):
    steps = Steps(2)
    steps.start("Python environment")
    environment.ensure_venv()
    environment.install("lint")
    steps.start("Checks")
    return lint.main(options.fix)


def command_docs(options):
    docs.write()


def command_bundle(options):
    steps = Steps(3)
    folder = prepare(steps, options.preset)
    steps.start("Archive")
    bundle.write(folder)


def parser():
    """The grammar of the command line; each command names its function."""
    top = argparse.ArgumentParser(prog="tools/dev", add_help=False)
    commands = top.add_subparsers(required=True)

    def add(name, function, preset=True, arguments=False):
        command = commands.add_parser(name)
        command.set_defaults(function=function)
        if preset:
            command.add_argument("--preset", default="dev")
        if arguments:
            command.add_argument("arguments", nargs=argparse.REMAINDER)
        return command

    add("demo", command_demo, arguments=True)
    test = add("test", command_test)
    test.add_argument("--no-torch", action="store_true")
    add("build", command_build, arguments=True)
    lint_command = add("lint", command_lint, preset=False)
    lint_command.add_argument("--fix", action="store_true")
    add("docs", command_docs, preset=False)
    add("bench", command_bench, arguments=True)
    add("bundle", command_bundle)
    return top


def main(words):
    try:
        # Python's own options must reach Python, so they are not parsed here.
        if words[0] == "python":
            return command_python(words[1:])
        options = parser().parse_args(words)
        return options.function(options) or 0
    except CommandError as error:
        print("tools/dev: %s" % error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
