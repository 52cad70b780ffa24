"""flowdsl: pipelines in Python, compiled to Argo Workflows."""

from __future__ import annotations

from flowdsl.artifact import GCS, S3, Azure, Git, Http, Raw
from flowdsl.cache import Cache
from flowdsl.companion import InitContainer, Ready, Sidecar
from flowdsl.control import either, otherwise, unless, when
from flowdsl.distributed import MPI, TensorFlow, Torch
from flowdsl.ending import Ended, on_exit, on_failure
from flowdsl.gpu import GPU
from flowdsl.items import failed, numbers
from flowdsl.kinds import approve, call_template, http, manifest, request, resource
from flowdsl.loop import fan_out
from flowdsl.pipeline import Pipeline, pipeline
from flowdsl.retry import Mutex, Retry, Semaphore
from flowdsl.run import run
from flowdsl.space import (
    Gp,
    Tpe,
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
from flowdsl.sweep import Sweep, sweep
from flowdsl.volume import Config, Host, NewVolume, Scratch, Secret, Volume

__all__ = [
    "GCS",
    "GPU",
    "MPI",
    "S3",
    "Azure",
    "Cache",
    "Config",
    "Ended",
    "Git",
    "Gp",
    "Host",
    "Http",
    "InitContainer",
    "Mutex",
    "NewVolume",
    "Pipeline",
    "Raw",
    "Ready",
    "Retry",
    "Scratch",
    "Secret",
    "Semaphore",
    "Sidecar",
    "Step",
    "Sweep",
    "TensorFlow",
    "Torch",
    "Tpe",
    "Volume",
    "approve",
    "call_template",
    "choice",
    "command",
    "container",
    "either",
    "failed",
    "fan_out",
    "grid",
    "http",
    "integer",
    "loguniform",
    "manifest",
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
    "request",
    "resource",
    "run",
    "step",
    "sweep",
    "uniform",
    "unless",
    "when",
]
__version__ = "0.1.0"
