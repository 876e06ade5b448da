"""Fusion as a backend of `torch.compile`.

    import torch
    import fusion.torch

    model = torch.compile(model, backend="fusion")

A graph is captured by dynamo, made functional and cut down to core ATen by AOT
autograd, and divided: what the fusion dialect can say is compiled, the rest runs
as it would without `torch.compile`. `report()` tells which is which, and why.

With the package installed the name "fusion" is found without this import.
"""

import torch._dynamo as _dynamo

from .backend import backend
from .report import EagerOp, GraphReport, PartitionReport, Report, report, reset

__all__ = [
    "EagerOp",
    "GraphReport",
    "PartitionReport",
    "Report",
    "backend",
    "report",
    "reset",
]

# An installed package is known by its metadata; a second entry is an error.
if "fusion" not in _dynamo.list_backends(exclude_tags=()):
    _dynamo.register_backend(backend, name="fusion")
