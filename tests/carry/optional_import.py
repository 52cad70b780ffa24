import sys

try:
    import tomllib
except ImportError:
    tomllib = None

if sys.version_info >= (3, 8):
    from importlib import metadata
else:
    import importlib_metadata as metadata

from flowdsl import step

ARGUMENTS = {}


@step(image="python:3.12-slim")
def train() -> list[bool]:
    return [tomllib is None, hasattr(metadata, "version")]
