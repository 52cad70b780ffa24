from __future__ import annotations

import os
import signal

from hypothesis import settings

from flowdsl.cli.commands import load

# The same examples on every machine, and no verdict that depends on its speed.
settings.register_profile("flowdsl", derandomize=True, deadline=None)
settings.load_profile("flowdsl")

# A shell starts what it runs in the background without interrupts, and what a test starts would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Runners of tests name a width for themselves; what a command writes does not depend on it unless a test says so.
os.environ.pop("COLUMNS", None)

# Commands add themselves in the order in which they are first used, and a message lists them: one order for all tests.
load()
