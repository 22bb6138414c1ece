# SPDX-License-Identifier: Apache-2.0
"""Checks what a program passes to a call. Each error says what, got and expected."""

from __future__ import annotations

import json
import math
import os
import reprlib
from numbers import Integral
from typing import Any, Iterable, Mapping, Optional, SupportsFloat, SupportsIndex, Union

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Step = Union[SupportsIndex, SupportsFloat, None]
Number = Union[SupportsIndex, SupportsFloat]


def got(value: Any) -> str:
    """How a message shows a value: as in a program, but short."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return reprlib.repr(value)
    return f"{type(value).__name__} {shown}" if (shown := _short(value)) else type(value).__name__


def _short(value: Any) -> str:
    """What tells values of a type apart; empty if that takes more than a few words."""
    try:
        shape = getattr(value, "shape", None)
    except RuntimeError:  # a nested tensor of torch
        return ""
    if isinstance(shape, tuple) and not isinstance(value, type):
        return f"of shape {tuple(int(size) for size in shape)}"
    return ""


def wrong(what: str, value: Any, expected: str, error: type[Exception] = TypeError) -> Exception:
    return error(f"{what}: got {got(value)}; expected {expected}")


def text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise wrong(what, value, "a str")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what}: got {got(value)}; expected a str without surrogates, which UTF-8 cannot "
                         "hold") from None
    return value


def optional_text(value: Any, what: str) -> str:
    """A text; empty for None."""
    return "" if value is None else text(value, what)


def texts(value: Any, what: str) -> list[str]:
    return [text(part, what) for part in sequence(value, what, "a list of str")]


def sequence(value: Any, what: str, expected: str) -> list[Any]:
    """The parts of a list, a tuple, an array and so on, but not the characters of a text."""
    if not isinstance(value, (str, bytes, Mapping)) and isinstance(value, Iterable):
        try:
            return list(value)
        except Exception:  # an array without dimensions, or one that JAX has deleted
            pass
    raise wrong(what, value, expected)


def mapping(value: Any, what: str) -> dict[str, Any]:
    """A dict whose keys are texts."""
    if not isinstance(value, Mapping):
        raise wrong(what, value, "a dict")
    return {text(key, f"{what}: key"): part for key, part in value.items()}


def number(value: Any, what: str) -> float:
    """A number as an option: of Python or numpy, or an array of one element."""
    if not isinstance(value, (str, bytes, bytearray, complex)) and value is not None:
        try:
            return float(value)
        except OverflowError:
            raise wrong(what, value, "a number in the range of float64", ValueError) from None
        except (TypeError, ValueError, RuntimeError):
            pass
    raise wrong(what, value, "a number")


def finite(value: Any, what: str) -> float:
    if not math.isfinite(found := number(value, what)):
        raise wrong(what, value, "a finite number", ValueError)
    return found


def positive(value: Any, what: str) -> float:
    if not number(value, what) > 0:
        raise wrong(what, value, "a number above 0", ValueError)
    return number(value, what)


def numbers(value: Any, what: str) -> list[float]:
    return [number(part, what) for part in sequence(value, what, "a list of numbers")]


def wall_time(value: Any, call: str) -> Optional[float]:
    return None if value is None else finite(value, f"{call}: walltime")


def integer(value: Any, what: str, least: int = -2**63, most: int = 2**63 - 1) -> int:
    """An integer of Python, numpy or torch, or a float that is one."""
    try:
        found = value.__index__()
    except (AttributeError, TypeError):
        found = _whole(value, what)
    if not least <= found <= most:
        bounds = (f"of at least {least}" if most >= 2**31 - 1 and least > -2**63 else f"from {least} to {most}"
                  if least > -2**63 else "from -2**63 to 2**63 - 1")
        raise ValueError(f"{what}: got {got(found)}; expected an integer {bounds}")
    return found


def _whole(value: Any, what: str) -> int:
    """A float that is an integer."""
    try:
        amount = number(value, what)
    except TypeError:
        raise wrong(what, value, "an integer") from None
    if not amount.is_integer():
        raise wrong(what, value, "an integer", ValueError)
    return int(amount)


def flag(value: Any, what: str) -> bool:
    """True or False, of Python or numpy; 0 and 1 as well."""
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    if isinstance(value, Integral) and value in (0, 1):
        return bool(value)
    raise wrong(what, value, "True or False")


def dimensions(value: Any, what: str, examples: str) -> str:
    """The order of dimensions, in capitals; the core checks that the letters fit the array."""
    if not isinstance(value, str):
        raise wrong(what, value, examples)
    return value.upper()


def cell(value: Any) -> str:
    """A label, of any type, as text."""
    return str(value).encode("utf-8", "replace").decode()


def json_text(value: Any, what: str) -> str:
    try:
        return json.dumps(mapping(value, what))
    except (TypeError, ValueError) as error:
        if str(error).startswith(what):
            raise
        raise TypeError(f"{what}: got a dict that JSON cannot hold: {error}; expected dicts, lists, numbers and "
                        "str") from None


def message(value: Any, what: str) -> bytes:
    """A message of Protocol Buffers, or its bytes."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if not hasattr(value, "SerializeToString"):
        raise wrong(what, value, "a message of Protocol Buffers, or its bytes")
    return bytes(value.SerializeToString())


def path(value: Any, what: str) -> str:
    try:
        found = os.fsdecode(value)
    except TypeError:
        raise wrong(what, value, "a path: str, bytes or os.PathLike") from None
    if "\0" in found:
        raise wrong(what, found, "a path without the character NUL", ValueError)
    return found
