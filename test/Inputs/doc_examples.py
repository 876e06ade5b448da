"""Prints the MLIR examples of Markdown pages as one file to verify.

usage: doc_examples.py PAGE...

An example that is a whole function or kernel counts; fragments don't. A comment
`// error: TEXT` says that the next line is wrong in that way.
"""

import re
import sys
from pathlib import Path


def examples(text):
    for fence in re.findall(r"^```mlir\n(.*?)^```", text, re.M | re.S):
        if fence.startswith(("func.func", "tile.kernel")):
            yield re.sub(r"// error: (.*)", r"// expected-error @below {{\1}}", fence)


def main(*pages):
    found = [example for page in pages for example in examples(Path(page).read_text())]
    if not found:
        sys.exit("no example in %s" % ", ".join(pages))
    print("\n// -----\n\n".join(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
