"""Commands and their options, a module for each group; importing one adds its commands."""

from flowdsl.cli.commands import cluster, control, fetching, local, logs, pipelines, reading, submitting
from flowdsl.cli.root import app

__all__ = ["app", "cluster", "control", "fetching", "local", "logs", "pipelines", "reading", "submitting"]
