from functools import partial

import flowdsl
import flowdsl as fd
from flowdsl import GPU, step as declare

gpu_step = partial(declare, gpu=GPU(1))
small = declare(image="python:3.12-slim")
ARGUMENTS = {}


def company_step(**options):
    return flowdsl.step(image="registry.example.com/python", **options)


@company_step(cpu=2)
def first() -> int:
    return 1


@gpu_step(image="pytorch/pytorch:2.7.1")
def second() -> int:
    return 2


@small
def third() -> int:
    return 3


@fd.step(image="python:3.12-slim")
def fourth() -> int:
    return 4


@(fd
  .step(image="python:3.12-slim"))
def train() -> int:
    return first() + second() + third() + fourth()
