"""`python -m flowdsl`."""

from __future__ import annotations

from flowdsl_command import main

main()
