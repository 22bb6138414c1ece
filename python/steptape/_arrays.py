# SPDX-License-Identifier: Apache-2.0
"""Takes numbers and arrays of any package, and does not wait for devices."""

from __future__ import annotations

import decimal
import numbers
import sys
from typing import Any, Callable, NamedTuple, Optional

import numpy as np

from . import _arguments

# Of the standard library, beside int and float: fractions and decimals.
NUMBERS = (numbers.Real, decimal.Decimal)


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
    if tensor.device.type == "meta" or not _is_real(tensor):
        raise _arguments.wrong(what, tensor, "a tensor with elements: not of the device meta, nor one of a trace or "
                                             "a transformation such as torch.compile or vmap")
    if tensor.is_nested:
        raise _arguments.wrong(what, tensor, "a tensor that is not nested, such as one of unbind()")
    tensor = tensor.detach()
    if hasattr(tensor, "full_tensor"):  # of torch.distributed.tensor
        raise _arguments.wrong(what, tensor, "a tensor of this process, such as full_tensor() or to_local()")
    if tensor.is_sparse or tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    tensor = tensor.resolve_conj().resolve_neg()
    if tensor.is_floating_point() and tensor.element_size() == 1:
        tensor = tensor.to(torch.float32)  # float8
    if tensor.device.type == "cpu":
        needed = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
        held = tensor.untyped_storage().nbytes() // tensor.element_size() - tensor.storage_offset()
        if tensor.numel() and needed > held:
            raise _arguments.wrong(what, tensor, "a tensor whose memory has not been freed", ValueError)
        return tensor
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


def _is_real(tensor: Any) -> bool:
    """Whether a tensor has memory of its own."""
    torch = sys.modules["torch"]
    fake = _class("torch._subclasses.fake_tensor", "FakeTensor")
    if fake is not None and isinstance(tensor, fake):
        return False
    functorch = getattr(torch._C, "_functorch", None)
    is_wrapped = getattr(functorch, "is_functorch_wrapped_tensor", None)
    return is_wrapped is None or not is_wrapped(tensor)


def _of_jax(array: Any, what: str) -> Any:
    if isinstance(array, sys.modules["jax"].core.Tracer):
        raise _arguments.wrong(what, array, "a value: inside of jit, grad and vmap only jax.debug.callback() has it")
    if array.is_deleted():
        raise _arguments.wrong(what, array, "an array that was neither deleted nor donated", ValueError)
    if not array.is_fully_addressable:
        raise _arguments.wrong(what, array, "an array of this process, such as one of addressable_shards", ValueError)
    if getattr(array.dtype, "kind", "O") not in "biufV":  # a key of jax.random has none
        raise TypeError(f"{what}: got {type(array).__name__} of {array.dtype}; expected numbers")
    if array.is_ready():
        return _of_numpy(np.asarray(array))
    kept = array.copy()  # the next step may be given the memory of this one
    kept.copy_to_host_async()
    return Arrival(lambda: _of_numpy(np.asarray(kept)), kept.is_ready, kept.block_until_ready)


def _of_tensorflow(tensor: Any, what: str) -> Any:
    """Not by DLPack, by which TensorFlow ends the process for a tensor of strings."""
    try:
        array = _of_numpy(np.asarray(tensor.numpy()))
    except (AttributeError, NotImplementedError):
        raise _arguments.wrong(what, tensor, "a value: inside of tf.function only tf.py_function() has it") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what}: got {_arguments.got(tensor)} of type {tensor.dtype.name}; expected numbers")
    return array


def _of_numpy(array: np.ndarray) -> np.ndarray:
    kind = array.dtype.kind
    if kind == "V" and array.dtype.names is None or array.dtype == np.longdouble:
        # bfloat16 and the smaller types of ml_dtypes; long double, which no event file holds.
        try:
            return array.astype(np.float64 if kind == "f" else np.float32)
        except (TypeError, ValueError):  # such as raw memory, numpy.void
            return array
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def arrive(value: Any, what: str) -> Any:
    """Returns an array that the core reads without a copy, or an Arrival.

    what: for messages, such as "add_histogram: values".
    """
    if _is_a(value, "torch", "Tensor"):
        return _of_torch(value, what)
    if _is_a(value, "jax", "Array"):
        return _of_jax(value, what)
    if _is_a(value, "tensorflow", "Tensor") or _is_a(value, "tensorflow", "Variable"):
        return _of_tensorflow(value, what)
    if isinstance(value, (list, tuple)) and any(_is_a(part, "torch", "Tensor") for part in value):
        value = [_of_torch_part(host(part, what)) for part in value]
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise _arguments.wrong(what, value, "an array without masked values, such as filled() or compressed()",
                               ValueError)
    if not isinstance(value, (np.ndarray, np.generic)) and hasattr(value, "__dlpack_device__"):
        device = int(value.__dlpack_device__()[0])
        if device not in (1, 3):  # main memory, also pinned
            raise _arguments.wrong(what, value, "an array in main memory, or one of torch or JAX")
        return value
    try:
        array = _of_numpy(np.asarray(value))
    except Exception as error:
        if isinstance(error, ValueError) and isinstance(value, (list, tuple)):
            raise ValueError(f"{what}: got lists of different lengths; expected those of an array") from None
        raise TypeError(f"{what}: got {_arguments.got(value)}, of which numpy says: {error}; expected "
                        "numbers") from error
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what}: got {_arguments.got(value)} of type {array.dtype}; expected numbers")
    return array


def is_on_its_way(array: Any) -> bool:
    """Whether an array that arrive() returned has not arrived. One whose device failed has: here() raises."""
    if not isinstance(array, Arrival):
        return False
    try:
        return not array.is_here()
    except Exception:  # pylint: disable=broad-except
        return False


def wait_for(array: Any) -> None:
    """Waits until an array has arrived, or its device has failed."""
    if is_on_its_way(array):
        try:
            array.wait()
        except Exception:  # pylint: disable=broad-except
            pass  # here() raises it as well.


def here(array: Any) -> Any:
    """The array that arrive() returned. REQUIRES: it has arrived."""
    return array.array() if isinstance(array, Arrival) else array


def _of_torch_part(tensor: Any) -> Any:
    """A tensor as a part of an array of numpy, which has no bfloat16."""
    if not _is_a(tensor, "torch", "Tensor"):
        return tensor
    return tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor


def host(value: Any, what: str) -> Any:
    """An array in main memory: waits for a device."""
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


def numeral(value: Any, what: str, expected: str = "a number") -> Any:
    """What arrive() takes for one number."""
    if value is None or isinstance(value, (str, bytes, bytearray)):
        raise _arguments.wrong(what, value, expected)
    return _arguments.number(value, what) if isinstance(value, NUMBERS) else value


def scalar(value: Any, what: str, expected: str = "a number") -> float:
    """A number that is needed now: waits for a device."""
    return number(host(numeral(value, what, expected), what), what)


def copied(array: Any) -> Any:
    """A copy that the program does not change."""
    return array.clone() if _is_a(array, "torch", "Tensor") else np.array(array)
