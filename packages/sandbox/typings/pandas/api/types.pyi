"""As much of pandas' look at values as `castellan` uses."""

from .. import Series

def infer_dtype(value: Series, skipna: bool) -> str: ...
