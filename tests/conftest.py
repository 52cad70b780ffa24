from __future__ import annotations

import os
import signal
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from flowdsl.cli.commands import load
from flowdsl.cli.process import ask_this_machine_directly
from flowdsl.runtime.cluster.policy import Policy

# The same examples on every machine, and no verdict that depends on its speed. Hypothesis also tries the constants that
# stand in those modules which are imported when a test begins, and these are others in each order of the tests.
made_up: Any = providers
assert callable(made_up._get_local_constants)
none = made_up._local_constants
made_up._get_local_constants = lambda: none
settings.register_profile("flowdsl", derandomize=True, deadline=None)
settings.load_profile("flowdsl")

# A shell starts what it runs in the background without interrupts, and what a test starts would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Runners of tests name a width, and colours, for themselves; what a command writes does not depend on that unless a
# test says so.
for _name in ("COLUMNS", "FORCE_COLOR"):
    os.environ.pop(_name, None)

# Tests talk to this machine only.
ask_this_machine_directly()

# Commands add themselves in the order in which they are first used, and a message lists them: one order for all tests.
load()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors of a cluster are soon taken for what they are, while each answer may take its time."""
    monkeypatch.setattr(Policy, "patience", 0.5)
    monkeypatch.setattr(Policy, "contact", 2.0)
