"""As much of Pyodide's way to JavaScript as `castellan_embedded` uses."""

class JsBuffer:
    """Bytes that JavaScript has."""

    def to_bytes(self) -> bytes: ...

def to_js(obj: bytes) -> JsBuffer: ...
