"""Demands on a node that exclude each other, in one option or in several."""

from flowdsl import GPU, Torch, pipeline, step


@step(image="python:3.12-slim", where="zone == a and zone == b")
def a() -> None: ...


@step(image="python:3.12-slim", gpu=1, where="gpu.memory > 40Gi and gpu.memory < 20Gi")
def b() -> None: ...


@step(image="python:3.12-slim", gpu=GPU(1, product="A100"), where="gpu.product == H100")
def c() -> None: ...


@step(image="python:3.12-slim", gpu=GPU(1, memory="80Gi"), where="gpu.memory < 50Gi")
def d() -> None: ...


@step(image="python:3.12-slim", where="disk in (x) and disk not in (x)")
def e() -> None: ...


@step(image="python:3.12-slim", gpu=GPU(1, product="T4"), node={"gpu.product": "L4"})
def f() -> None: ...


@step(image="python:3.12-slim", distributed=Torch(workers=2), where="zone == a and zone == b")
def g() -> None: ...


@pipeline
def p() -> None:
    a()
    b()
    c()
    d()
    e()
    f()
    g()
