"""What the CPU's and the GPU's runner share."""

# A cell prints its row after this, whatever else the peers print.
MARK = "RESULT "


def compiled(function, peer):
    """The function under a peer: eager, inductor or another back end."""
    import torch

    if peer == "eager":
        return function
    if peer == "fusion":
        import fusion.torch  # noqa: F401, registers the back end
    options = {"backend": peer}
    if peer == "inductor-max":
        options = {"mode": "max-autotune-no-cudagraphs"}
    return torch.compile(function, dynamic=False, **options)


def relative_error(reference, result):
    """Largest relative error in the 2-norm among the results."""
    as_tuple = [
        value if isinstance(value, (tuple, list)) else (value,)
        for value in (reference, result)
    ]
    return max(
        ((x.double() - y.double()).norm() / (x.double().norm() + 1e-30)).item()
        for x, y in zip(*as_tuple, strict=True)
    )
