"""Figures of matplotlib: what a program drew is shown when it asks for it, or when it has ended."""

import sys


def show_all() -> None:
    """Shows the figures that are open, and closes them."""


def forget() -> None:
    """Closes what is still open."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
