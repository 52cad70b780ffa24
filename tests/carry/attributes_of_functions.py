from math import *

from flowdsl import step

ARGUMENTS = {"n": 3}


def helper(n: int) -> int:
    return n + helper.offset


helper.offset = 2
helper.__doc__ = "Set later."


def plain(n: int) -> int:
    plain.calls += 1
    return floor(plain.calls) + helper(n) if n else plain(1)


plain.calls = 0
floor.__doc__
train = step(image="python:3.12-slim")(plain)
