"""Commands and their options, a module for each group; importing one adds its commands."""

from flowdsl.cli.commands import fetching, local, pipelines, reading, submitting
from flowdsl.cli.root import app

__all__ = ["app", "fetching", "local", "pipelines", "reading", "submitting"]
