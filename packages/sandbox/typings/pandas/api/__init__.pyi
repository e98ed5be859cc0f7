"""As much of pandas' types as `castellan` uses."""

from . import extensions as extensions
from . import types as types
