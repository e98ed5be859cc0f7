"""As much of pandas' own types of columns as `castellan` uses."""

class ExtensionDtype:
    @property
    def kind(self) -> str: ...
    # Those whose kind is a number's have it.
    @property
    def itemsize(self) -> int: ...
