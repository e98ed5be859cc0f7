"""Figures of matplotlib: what a program drew is shown where it asks for it (`show`), or when it has ended."""

import importlib.abc
import importlib.machinery
import importlib.util
import io
import sys
import types
from collections.abc import Sequence
from typing import Any

from . import _display

SHOWN = 20
"""Figures of one program that are shown."""

_pyplot = "matplotlib.pyplot"


def forms(figure: Any) -> list[tuple[str, bytes]]:
    """A figure as a picture, and a word of what it is."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png", bbox_inches="tight")
    data = picture.getvalue()
    axes = len(figure.axes)
    width, height = figure.get_size_inches() * figure.dpi
    titles = [axis.get_title() for axis in figure.axes if axis.get_title()]
    about = f": {titles[0]}" if titles else ""
    text = f"<Figure of {width:.0f} × {height:.0f} pixels with {axes} axes{about}>".encode()
    if len(data) > _display.FORM:
        return [("text/plain", text + f"\n[its picture of {len(data)} bytes is too large to be shown]".encode())]
    return [("image/png", data), ("text/plain", text)]


def show_all() -> None:
    """Shows the figures that are open, and closes them."""
    pyplot = sys.modules.get(_pyplot)
    if pyplot is None:
        return
    numbers = pyplot.get_fignums()
    if not numbers:
        return
    try:
        shown = 0
        for number in numbers:
            figure = pyplot.figure(number)
            if shown == SHOWN:
                print(f"[{len(numbers) - shown} more figures are not shown]", file=sys.stderr)
                break
            # One that nothing was drawn into is nothing to look at.
            if figure.axes or figure.texts or figure.images:
                _display.show(forms(figure))
                shown += 1
    finally:
        pyplot.close("all")


def forget() -> None:
    """Closes what is still open."""
    pyplot = sys.modules.get(_pyplot)
    if pyplot is not None and pyplot.get_fignums():
        pyplot.close("all")


def _show(*_arguments: Any, **_options: Any) -> None:
    """Shows the figures that are open, and closes them."""
    show_all()


def install() -> None:
    """Has `matplotlib.pyplot.show` show figures here, now or as soon as it is imported."""
    pyplot = sys.modules.get(_pyplot)
    if pyplot is not None:
        pyplot.__dict__["show"] = _show
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder(importlib.abc.MetaPathFinder):
    """Waits for pyplot to be imported."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != _pyplot:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(importlib.abc.Loader):
    """Loads pyplot as its own loader does, and then takes `show` over."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        found: types.ModuleType | None = self._loader.create_module(spec)
        return found

    def exec_module(self, module: types.ModuleType) -> None:
        self._loader.exec_module(module)
        module.__dict__["show"] = _show
