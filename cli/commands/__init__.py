"""Commands and their options, a module for each group; importing one adds its commands."""

from flowdsl.cli.commands import cluster, local, pipelines, reading, submitting
from flowdsl.cli.root import app

__all__ = ["app", "cluster", "local", "pipelines", "reading", "submitting"]
