"""Python in WebAssembly, as much of it as `castellan_embedded` uses."""
