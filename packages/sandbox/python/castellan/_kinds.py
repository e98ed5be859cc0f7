"""What kind of structure a value of a program is, in words that a check of types follows: what is in it can be anything."""

from collections.abc import Mapping
from typing import Any, TypeGuard


def of(value: object) -> type[object]:
    """The very type of a value, whatever it inherits."""
    return type(value)


def is_dictionary(value: object) -> TypeGuard[dict[Any, Any]]:
    """Whether it is a dictionary, or inherits from one."""
    return isinstance(value, dict)


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Whether values can be had from it by keys."""
    return isinstance(value, Mapping)


def is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    """Whether it is a tuple, or inherits from one."""
    return isinstance(value, tuple)


def is_structure(value: object) -> bool:
    """Whether JSON has a form of its own for it."""
    return isinstance(value, (list, tuple, dict))


def is_gathering(value: object) -> TypeGuard[list[Any] | tuple[Any, ...] | set[Any] | frozenset[Any]]:
    """Whether it holds items without names."""
    return isinstance(value, (list, tuple, set, frozenset))


def is_bytes(value: object) -> TypeGuard[bytes | bytearray | memoryview]:
    """Whether it is raw bytes, in one of the forms that Python has for them."""
    return isinstance(value, (bytes, bytearray, memoryview))
