# SPDX-License-Identifier: Apache-2.0
"""Takes numbers and arrays of any package, and does not wait for devices."""

from __future__ import annotations

import sys
from typing import Any, Callable, NamedTuple, Optional

import numpy as np


class Arrival(NamedTuple):
    """An array that may still be on its way to main memory."""

    array: Callable[[], Any]  # after it has arrived
    is_here: Callable[[], bool]
    wait: Callable[[], Any]


def _class(module: str, name: str) -> Optional[type]:
    """A class of a package if the program has imported it; else no object can be of it."""
    return getattr(sys.modules.get(module), name, None)


def _is_a(value: Any, module: str, name: str) -> bool:
    wanted = _class(module, name)
    return isinstance(wanted, type) and isinstance(value, wanted)


def _of_torch(tensor: Any, what: str) -> Any:
    torch = sys.modules["torch"]
    tensor = tensor.detach()
    if tensor.is_sparse or tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    tensor = tensor.resolve_conj().resolve_neg()
    if tensor.device.type == "cpu":
        return tensor
    if tensor.device.type == "meta":
        raise TypeError(f"{what}: got a tensor on the device meta; expected one with elements")
    module = getattr(torch, tensor.device.type, None)
    if not hasattr(module, "Event"):
        return tensor.cpu()
    copy = torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu",
                       pin_memory=tensor.device.type == "cuda" and tensor.numel() > 0)
    # In the order of the stream, so that what the program does next to the tensor comes after it.
    copy.copy_(tensor, non_blocking=True)
    event = module.Event()
    event.record()
    # Keeps the tensor: its memory must not be used for another one before the copy has ended.
    return Arrival(lambda: (copy, tensor)[0], event.query, event.synchronize)


def _of_jax(array: Any) -> Any:
    if array.is_ready():
        return _of_numpy(np.asarray(array))
    array.copy_to_host_async()
    return Arrival(lambda: _of_numpy(np.asarray(array)), array.is_ready, array.block_until_ready)


def _of_numpy(array: np.ndarray) -> np.ndarray:
    kind = array.dtype.kind
    if kind == "V" and array.dtype.names is None or array.dtype == np.longdouble:
        # bfloat16 and the smaller types of ml_dtypes; long double, which no event file holds.
        return array.astype(np.float64 if kind == "f" else np.float32)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def arrive(value: Any, what: str) -> Any:
    """Returns an array that the core reads without a copy, or an Arrival.

    what: for messages, such as "add_histogram: values".
    """
    if _is_a(value, "torch", "Tensor"):
        return _of_torch(value, what)
    if _is_a(value, "jax", "Array"):
        return _of_jax(value)
    if isinstance(value, (list, tuple)) and any(_is_a(part, "torch", "Tensor") for part in value):
        value = [_host(part, what) for part in value]
    if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack_device__"):
        device = int(value.__dlpack_device__()[0])
        if device != 1:
            raise TypeError(f"{what}: got {type(value).__name__} on a device; expected an array in main "
                            "memory, or one of torch or JAX")
        return value
    array = _of_numpy(np.asarray(value))
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what}: got {type(value).__name__} of {array.dtype}; expected numbers")
    return array


def here(array: Any) -> Any:
    """The array that arrive() returned. REQUIRES: it has arrived."""
    return array.array() if isinstance(array, Arrival) else array


def _host(value: Any, what: str) -> Any:
    found = arrive(value, what)
    if isinstance(found, Arrival):
        found.wait()
    return here(found)


def number(array: Any, what: str) -> float:
    """The only element of an array."""
    if _is_a(array, "torch", "Tensor"):
        count, is_complex = array.numel(), array.is_complex()
    else:
        array = np.asarray(array)
        count, is_complex = array.size, array.dtype.kind not in "biuf"
    if count != 1 or is_complex:
        raise TypeError(f"{what}: got an array of shape {tuple(array.shape)} and type {array.dtype}; "
                        "expected one number")
    return float(array.reshape(()).item())


def scalar(value: Any, what: str) -> float:
    """A number that is needed now: waits for a device."""
    if value is None or isinstance(value, (str, bytes)):
        raise TypeError(f"{what}: got {value!r}; expected a number")
    return number(_host(value, what), what)


def copied(array: Any) -> Any:
    """A copy that the program does not change."""
    return array.clone() if _is_a(array, "torch", "Tensor") else np.array(array)
