import sys

from flowdsl import step

ARGUMENTS = {}

if sys.version_info >= (3, 8):

    @step(image="python:3.12-slim")
    def train() -> int:
        return helper()

    def helper() -> int:
        return 8

else:

    @step(image="python:3.7-slim")
    def train() -> int:
        return 7
