"""flowdsl: pipelines in Python, compiled to Argo Workflows."""

from __future__ import annotations

from flowdsl.artifact import Git
from flowdsl.cache import Cache
from flowdsl.control import either, otherwise, unless, when
from flowdsl.gpu import GPU
from flowdsl.loop import Sweep, fan_out, sweep
from flowdsl.pipeline import Pipeline, pipeline
from flowdsl.run import run
from flowdsl.space import (
    choice,
    grid,
    integer,
    loguniform,
    maximize,
    minimize,
    normal,
    quniform,
    uniform,
)
from flowdsl.step import Step, command, container, output, step
from flowdsl.volume import Secret, Volume

__all__ = [
    "GPU",
    "Cache",
    "Git",
    "Pipeline",
    "Secret",
    "Step",
    "Sweep",
    "Volume",
    "choice",
    "command",
    "container",
    "either",
    "fan_out",
    "grid",
    "integer",
    "loguniform",
    "maximize",
    "minimize",
    "normal",
    "otherwise",
    "output",
    "pipeline",
    "quniform",
    "run",
    "step",
    "sweep",
    "uniform",
    "unless",
    "when",
]
__version__ = "0.1.0"
