"""flowdsl: pipelines in Python, compiled to Argo Workflows."""

from __future__ import annotations

from flowdsl.control import either, otherwise, unless, when
from flowdsl.ending import Ended, on_exit, on_failure
from flowdsl.gpu import GPU
from flowdsl.items import failed, numbers
from flowdsl.loop import Sweep, fan_out, sweep
from flowdsl.pipeline import Pipeline, pipeline
from flowdsl.retry import Mutex, Retry, Semaphore
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
    "Ended",
    "Mutex",
    "Pipeline",
    "Retry",
    "Secret",
    "Semaphore",
    "Step",
    "Sweep",
    "Volume",
    "choice",
    "command",
    "container",
    "either",
    "failed",
    "fan_out",
    "grid",
    "integer",
    "loguniform",
    "maximize",
    "minimize",
    "normal",
    "numbers",
    "on_exit",
    "on_failure",
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
