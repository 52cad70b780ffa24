"""The command line of flowdsl: the only layer that prints."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command in `sys.argv` and exit with its code."""
    from flowdsl.cli.app import run

    sys.exit(run(sys.argv[1:]))
