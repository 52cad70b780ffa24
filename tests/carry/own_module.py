import json, _mylib
import _mylib as tools
from _mylib import Tool, helper

from flowdsl import step


def indirect() -> int:
    return helper()


@step(image="python:3.12-slim")
def train(n: int) -> int:
    import _mylib.inner
    from _mylib import other

    return json.loads("1") + _mylib.helper() + tools.helper() + indirect()
