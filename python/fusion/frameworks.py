"""Arrays of numpy, torch, cupy, jax and anything else with DLPack.

No framework is imported here: one that made an array is in `sys.modules`
already. An array is described by its `ArraySpec`, all that a graph depends on;
results are handed back in the framework of the arguments.
"""

from __future__ import annotations

import functools
import math
import sys
from dataclasses import dataclass
from typing import Any, Callable, Sequence

import numpy as np

from .dtypes import DType, as_dtype
from .errors import FusionError

#: Alignment that kernels assume unless an argument says less.
DEFAULT_ALIGN = 16


@dataclass(frozen=True)
class ArraySpec:
    """What a graph knows of an argument.

    `order` and `strides` are those of `TensorType`; `flipped` lists dimensions
    that are handed over reversed (their strides are negative), and
    `needs_copy` says that the elements have no form that a kernel can read.
    """

    dtype: DType
    shape: tuple[int, ...]
    order: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    align: int = DEFAULT_ALIGN
    flipped: tuple[int, ...] = ()
    needs_copy: bool = False


def alignment(pointer: int) -> int:
    """The largest power of two up to 16 that divides the pointer."""
    return min(DEFAULT_ALIGN, pointer & -pointer) or DEFAULT_ALIGN


def dense_order(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, ...] | None:
    """Outermost to innermost order of dense dimensions, () for row-major; None
    where elements leave gaps or overlap. Strides of sizes 0 and 1 are free.
    """
    if 0 in shape:
        return ()
    free = [i for i, size in enumerate(shape) if size == 1]
    used = [i for i, size in enumerate(shape) if size != 1]
    by_stride = sorted(used, key=lambda i: -strides[i])
    expected = 1
    for i in reversed(by_stride):
        if strides[i] != expected:
            return None
        expected *= shape[i]
    return () if by_stride == used else (*free, *by_stride)


def _layout(shape: Sequence[int], strides: Sequence[int]) -> dict[str, tuple[int, ...]]:
    order = dense_order(shape, strides)
    if order is None:
        return {"strides": tuple(strides)}
    return {"order": order}


class Framework:
    """How one framework's arrays are read and made. The base class knows only
    DLPack on the CPU, and reads everything through numpy's view of it.
    """

    def signature(self, x: Any) -> tuple[Any, ...]:
        """A hashable value, equal for arrays of equal spec; made on every call."""
        return (*NUMPY.signature(np.from_dlpack(x)), "dlpack")

    def describe(self, x: Any) -> ArraySpec:
        return NUMPY.describe(np.from_dlpack(x))

    def device(self, x: Any) -> str:
        """The name "cpu", or "cuda:<n>"."""
        kind, index = x.__dlpack_device__()
        return f"cuda:{index}" if int(kind) == 2 else "cpu"

    def prepare(self, x: Any, flipped: Sequence[int], copy: bool) -> Any:
        """What the runtime is given for `x`: dimensions reversed, or a copy."""
        return NUMPY.prepare(np.from_dlpack(x), flipped, copy)

    def is_ready(self, x: Any) -> bool:
        """Whether the runtime reads an array like `x` as it is; otherwise, and
        for flips and copies, it is given what `prepare` returns.
        """
        return False

    def to_host(self, x: Any) -> Any:
        """An array in host memory with the elements and strides of `x`."""
        return x

    def to_device(self, x: np.ndarray, device: str) -> Any:
        """A copy of a numpy array on `device`, for arrays met while tracing."""
        raise FusionError(
            "device",
            f"a numpy array was met in a function that runs on {device}",
            remedy="make it an array of the framework of the arguments",
        )

    def values(self, x: Any) -> np.ndarray:
        """The elements for reading; bfloat16 as float32."""
        return np.from_dlpack(x)

    def stream(self, device: str) -> int:
        return 0

    def run(
        self, call: Callable[..., list[Any]], results: Sequence[Any], device: str
    ) -> list[Any]:
        """Runs `call(stream=, out=)` and returns arrays of this framework;
        `results` are the (dtype, shape, strides) of each.
        """
        return [self.adopt(r) for r in call(stream=self.stream(device))]

    def adopt(self, result: Any) -> Any:
        """A result of the runtime as an array of this framework."""
        return result.numpy()


class Numpy(Framework):
    def signature(self, x: Any) -> tuple[Any, ...]:
        pointer = x.__array_interface__["data"][0]
        return x.dtype, x.shape, x.strides, alignment(pointer)

    def describe(self, x: Any) -> ArraySpec:
        if isinstance(x, np.ma.MaskedArray):
            raise FusionError(
                "unsupported",
                "a masked array: its mask has no place in a graph",
                remedy="pass x.data and x.mask, and choose with fusion.where",
            )
        x = np.asarray(x)
        dtype = as_dtype(x.dtype)
        align = alignment(x.__array_interface__["data"][0])
        # Fields of packed records, foreign byte order: nothing a kernel can load.
        odd = any(s % dtype.itemsize for s in x.strides) or align < min(
            dtype.itemsize, DEFAULT_ALIGN
        )
        if x.size and (odd or not x.dtype.isnative):
            return ArraySpec(dtype, x.shape, needs_copy=True)
        flipped = tuple(i for i, s in enumerate(x.strides) if s < 0 and x.shape[i] > 1)
        view = np.flip(x, flipped) if flipped and x.size else x
        strides = [max(s, 0) // dtype.itemsize for s in view.strides]
        align = alignment(view.__array_interface__["data"][0])
        return ArraySpec(
            dtype, x.shape, **_layout(x.shape, strides), align=align, flipped=flipped
        )

    def is_ready(self, x: Any) -> bool:
        return isinstance(x, np.ndarray)

    def prepare(self, x: Any, flipped: Sequence[int], copy: bool) -> Any:
        x = np.flip(x, flipped) if flipped else np.asarray(x)
        # numpy aligns a fresh allocation to 16 bytes.
        return np.array(x, x.dtype.newbyteorder("="), order="C") if copy else x

    def values(self, x: Any) -> np.ndarray:
        return np.asarray(x)

    def device(self, x: Any) -> str:
        return "cpu"


# Results of so many bytes are mapped afresh by malloc, page by page.
POOLED_BYTES = 1 << 20


def run_on_cpu(call: Callable[..., list[Any]], forms: Sequence[Any]) -> list[Any]:
    """Calls `call` for torch results of these sizes, strides and dtypes.

    Large results come from fusion's pool, which keeps and reuses freed memory,
    small ones from torch.
    """
    torch = sys.modules["torch"]
    size = sum(math.prod(sizes) * dtype.itemsize for sizes, _, dtype in forms)
    if size >= POOLED_BYTES:
        return [torch.from_dlpack(result) for result in call()]
    out = [
        torch.empty_strided(sizes, strides, dtype=dtype)
        for sizes, strides, dtype in forms
    ]
    call(out=out)
    return out


class Torch(Framework):
    def signature(self, x: Any) -> tuple[Any, ...]:
        if x.requires_grad and sys.modules["torch"].is_grad_enabled():
            raise FusionError(
                "unsupported",
                "a torch tensor with requires_grad was given to fusion.jit, which "
                "computes no gradients",
                remedy="call it under torch.no_grad(), or detach() the tensor",
            )
        return x.dtype, x.shape, x.stride(), alignment(x.data_ptr()), x.device

    def describe(self, x: Any) -> ArraySpec:
        return ArraySpec(
            as_dtype(x.dtype),
            tuple(x.shape),
            **_layout(x.shape, x.stride()),
            align=alignment(x.data_ptr()),
        )

    def device(self, x: Any) -> str:
        device = x.device
        return "cpu" if device.type == "cpu" else f"{device.type}:{device.index or 0}"

    def is_ready(self, x: Any) -> bool:
        return True

    def prepare(self, x: Any, flipped: Sequence[int], copy: bool) -> Any:
        return x

    def to_host(self, x: Any) -> Any:
        return x.detach().cpu()

    def to_device(self, x: np.ndarray, device: str) -> Any:
        return sys.modules["torch"].from_numpy(x).to(device)

    def values(self, x: Any) -> np.ndarray:
        x = self.to_host(x)
        # numpy has no bfloat16: its values are exact in float32.
        is_bfloat16 = x.dtype == sys.modules["torch"].bfloat16
        return (x.float() if is_bfloat16 else x).numpy()

    def stream(self, device: str) -> int:
        if device == "cpu":
            return 0
        return sys.modules["torch"].cuda.current_stream(device).cuda_stream

    def run(
        self, call: Callable[..., list[Any]], results: Sequence[Any], device: str
    ) -> list[Any]:
        torch = sys.modules["torch"]
        forms = [
            (shape, strides, getattr(torch, dtype.name))
            for dtype, shape, strides in results
        ]
        if device == "cpu":
            return run_on_cpu(call, forms)
        out = [
            torch.empty_strided(shape, strides, dtype=dtype, device=device)
            for shape, strides, dtype in forms
        ]
        # Workspace comes from torch too, so that both share one pool.
        allocate = functools.partial(torch.empty, dtype=torch.uint8, device=device)
        call(stream=self.stream(device), out=out, workspace=allocate)
        return out


class Cupy(Framework):
    def signature(self, x: Any) -> tuple[Any, ...]:
        return x.dtype, x.shape, x.strides, alignment(x.data.ptr), x.device.id

    def describe(self, x: Any) -> ArraySpec:
        dtype = as_dtype(x.dtype)
        strides = [s // dtype.itemsize for s in x.strides]
        if any(s < 0 for s in strides):
            return ArraySpec(dtype, x.shape, needs_copy=True)
        return ArraySpec(
            dtype, x.shape, **_layout(x.shape, strides), align=alignment(x.data.ptr)
        )

    def is_ready(self, x: Any) -> bool:
        return True

    def prepare(self, x: Any, flipped: Sequence[int], copy: bool) -> Any:
        return x.copy(order="C") if copy else x

    def to_host(self, x: Any) -> Any:
        return x.get()

    def to_device(self, x: np.ndarray, device: str) -> Any:
        return sys.modules["cupy"].asarray(x)

    def values(self, x: Any) -> np.ndarray:
        return x.get()

    def stream(self, device: str) -> int:
        return sys.modules["cupy"].cuda.get_current_stream().ptr

    def adopt(self, result: Any) -> Any:
        return sys.modules["cupy"].from_dlpack(result)


class Jax(Framework):
    """jax arrays are dense and row-major as far as a program can see."""

    def signature(self, x: Any) -> tuple[Any, ...]:
        pointer = x.unsafe_buffer_pointer()
        return x.dtype, x.shape, alignment(pointer), self.device(x)

    def describe(self, x: Any) -> ArraySpec:
        return ArraySpec(
            as_dtype(x.dtype),
            tuple(x.shape),
            align=alignment(x.unsafe_buffer_pointer()),
        )

    def prepare(self, x: Any, flipped: Sequence[int], copy: bool) -> Any:
        # jax computes asynchronously; the runtime reads the memory at once.
        return x.block_until_ready()

    def to_host(self, x: Any) -> Any:
        jax = sys.modules["jax"]
        return jax.device_put(x, jax.devices("cpu")[0]).block_until_ready()

    def to_device(self, x: np.ndarray, device: str) -> Any:
        return sys.modules["jax"].numpy.asarray(x)

    def stream(self, device: str) -> int:
        if device == "cpu":
            return 0
        gpus = sys.modules["jax"].devices("cuda")
        gpu = gpus[int(device.partition(":")[2])]
        return gpu.get_stream_for_external_ready_events()

    def values(self, x: Any) -> np.ndarray:
        x = np.asarray(x)
        return x.astype(np.float32) if x.dtype.name == "bfloat16" else x

    def adopt(self, result: Any) -> Any:
        return sys.modules["jax"].dlpack.from_dlpack(result)


NUMPY = Numpy()
_DLPACK = Framework()
_BY_MODULE = {
    "numpy": NUMPY,
    "torch": Torch(),
    "cupy": Cupy(),
    "jax": Jax(),
    "jaxlib": Jax(),
}
_by_type: dict[type, Framework | None] = {}


def find(x: Any) -> Framework | None:
    """The framework that made `x`, or None where `x` is not an array."""
    cls = type(x)
    if cls not in _by_type:
        _by_type[cls] = _find_by_bases(x)
    return _by_type[cls]


def _find_by_bases(x: Any) -> Framework | None:
    if isinstance(x, (np.ndarray, np.generic)):
        return NUMPY
    if not hasattr(x, "__dlpack__") or type(x).__module__.startswith("fusion."):
        return None
    for base in type(x).__mro__:
        framework = _BY_MODULE.get(base.__module__.partition(".")[0])
        if framework is not None:
            return framework
    return _DLPACK


def is_array(x: Any) -> bool:
    return find(x) is not None


def owner(x: Any) -> Framework:
    """The framework of what `is_array` says is an array."""
    framework = find(x)
    assert framework is not None
    return framework


def signature(x: Any) -> tuple[Any, ...]:
    """Equal for arrays that one graph and one binding serve."""
    return owner(x).signature(x)


def describe(x: Any) -> ArraySpec:
    spec = owner(x).describe(x)
    if len(spec.shape) > 8:
        raise FusionError(
            "unsupported",
            f"an array of {len(spec.shape)} dimensions; at most 8 are supported",
            remedy="merge dimensions with reshape",
        )
    return spec


def values(x: Any) -> np.ndarray:
    """The elements of any array in host memory; bfloat16 as float32."""
    return owner(x).values(x)


def small_values(x: Any, limit: int) -> np.ndarray | None:
    """The elements of a host array of at most `limit` bytes, else None."""
    if owner(x).device(x) != "cpu":
        return None
    spec = describe(x)
    if math.prod(spec.shape) * spec.dtype.itemsize > limit:
        return None
    return values(x)


def choose(arrays: Sequence[Any]) -> tuple[Framework, str]:
    """The framework and device of the results for these arguments: those of the
    first that is not numpy's. FusionError where devices differ.
    """
    chosen: Framework = NUMPY
    device = "cpu"
    for x in arrays:
        framework = owner(x)
        if framework is NUMPY:
            continue
        where = framework.device(x)
        if chosen is not NUMPY and where != device:
            raise FusionError(
                "device",
                f"arguments live on {device} and on {where}",
                remedy="move them to one device",
            )
        if chosen is NUMPY:
            chosen, device = framework, where
    return chosen, device


def choose_gpu() -> tuple[Framework, str]:
    """The framework and device of the results on a GPU of a function without
    arguments: torch where the program has imported it, else none.
    """
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return NUMPY, "cpu"
    return _BY_MODULE["torch"], f"cuda:{torch.cuda.current_device()}"
