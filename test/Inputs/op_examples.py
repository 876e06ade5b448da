"""Turns the MLIR examples of Markdown pages into modules that fusion-opt verifies.

usage: op_examples.py PAGE... > OUT

An example that is a list of ops gets a function around it, whose arguments are the
values that it uses and does not define: their types stand in the op's own type.
One that is a type becomes the type of an argument. Parts are separated as
--split-input-file expects.
"""

import re
import sys

BLOCK = re.compile(r"```mlir\n(.*?)```", re.DOTALL)
COMMENT = re.compile(r"//.*")
# `%y = fusion.op ... : (types) -> type`, in one line or several.
TYPED = re.compile(r"\((?P<operands>[^()]*)\)\s*->\s*\S.*$", re.DOTALL)
BINDING = re.compile(r"= (%\w+) : (\S+?)[,)]")


def split_types(text):
    """The comma-separated types in a list; commas within <...> do not count."""
    types, depth = [""], 0
    for character in text:
        depth += {"<": 1, ">": -1}.get(character, 0)
        if character == "," and depth == 0:
            types.append("")
        else:
            types[-1] += character
    return [item.strip() for item in types if item.strip()]


def arguments(example):
    """Free values of a list of ops and their types, in order of use."""
    if "{\n" in example:
        return dict(BINDING.findall(example))
    body, _, signature = example.rpartition(" : ")
    match = TYPED.match(signature)
    if not match:
        return {}
    operands = re.findall(r"%\w+", body.partition("=")[2])
    return dict(zip(operands, split_types(match["operands"]), strict=True))


def module(example):
    """A module of its own around an example."""
    text = COMMENT.sub("", example).strip()
    if text.startswith(("func.func", "module")):
        return text
    if text.startswith("tensor<"):
        return "func.func @example(%%x: %s) { return }" % text
    values = ", ".join("%s: %s" % item for item in arguments(text).items())
    return "func.func @example(%s) {\n%s\nreturn\n}" % (values, text)


def is_fragment(example):
    """A terminator is nothing without the region that it ends."""
    return re.match(r"\w+\.(yield|return)\b", example.strip()) is not None


def main(paths):
    examples = []
    for path in paths:
        with open(path) as page:
            examples += BLOCK.findall(page.read())
    whole = [example for example in examples if not is_fragment(example)]
    print("\n// -----\n".join(module(example) for example in whole))
    print("%d examples" % len(whole), file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
