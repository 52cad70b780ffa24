"""`python -m flowdsl.cli`."""

from __future__ import annotations

from flowdsl.cli import main

main()
