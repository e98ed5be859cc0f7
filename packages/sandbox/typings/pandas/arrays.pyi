"""As much of pandas' arrays as `castellan` uses."""

import numpy

class IntegerArray:
    def __init__(self, values: numpy.ndarray, mask: numpy.ndarray) -> None: ...
