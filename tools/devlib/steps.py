"""What a command tells the user while it works: numbered steps and times."""

import subprocess
import sys
import time

START = time.monotonic()


class CommandError(Exception):
    """A command cannot go on; the message says why and what to do."""


def elapsed():
    seconds = int(time.monotonic() - START)
    return "%d:%02d" % (seconds // 60, seconds % 60)


class Steps:
    """Announces the steps of a command, of which it knows the number."""

    def __init__(self, count):
        self.count = count
        self.done = 0

    def start(self, title):
        self.done += 1
        print(
            "==> [%d/%d] %s (%s elapsed)" % (self.done, self.count, title, elapsed()),
            flush=True,
        )


def run(command, what, **options):
    """Runs a command with its output in view; raises where it fails."""
    command = [str(word) for word in command]
    try:
        code = subprocess.run(command, **options).returncode
    except FileNotFoundError:
        raise CommandError("%s needs %s, which is missing" % (what, command[0]))
    if code != 0:
        raise CommandError(
            "%s failed with exit code %d: %s" % (what, code, " ".join(command))
        )


def capture(command):
    """The output of a command that has to succeed."""
    return subprocess.run(
        [str(word) for word in command],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.strip()


def warn(message):
    print("tools/dev: " + message, file=sys.stderr, flush=True)
