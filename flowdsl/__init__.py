"""flowdsl: pipelines in Python, compiled to Argo Workflows."""

from __future__ import annotations

from flowdsl.artifact import GCS, S3, Azure, Git, Http, Raw
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
from flowdsl.volume import Config, Host, NewVolume, Scratch, Secret, Volume

__all__ = [
    "GCS",
    "GPU",
    "S3",
    "Azure",
    "Config",
    "Git",
    "Host",
    "Http",
    "NewVolume",
    "Pipeline",
    "Raw",
    "Scratch",
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
