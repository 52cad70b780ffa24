import sys

from flowdsl import step

try:
    import no_such_module

    HAVE = True
except ImportError:
    HAVE = False

if sys.platform == "no such platform":
    import winreg as registry

ARGUMENTS = {}


@step(image="python:3.12-slim")
def train() -> str:
    if HAVE:
        return no_such_module.name
    return registry.name if sys.platform == "no such platform" else "without"
