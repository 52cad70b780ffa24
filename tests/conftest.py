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

# The same examples on every machine, and no result that depends on its speed. Hypothesis also tries the constants of
# the modules that are imported when a test begins, which depend on the order of the tests.
made_up: Any = providers
assert callable(made_up._get_local_constants)
none = made_up._local_constants
made_up._get_local_constants = lambda: none
settings.register_profile("flowdsl", derandomize=True, deadline=None)
settings.load_profile("flowdsl")

# A shell lets background jobs ignore SIGINT, and processes started by tests would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Test runners set a width and colours for themselves; the output of commands depends on them only if a test says so.
for _name in ("COLUMNS", "FORCE_COLOR"):
    os.environ.pop(_name, None)

# Tests connect to this machine only.
ask_this_machine_directly()

# Commands are registered in the order of first use, and a message lists them: this is the same order for all tests.
load()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors of a cluster soon count as final, while each answer may take its time."""
    monkeypatch.setattr(Policy, "patience", 0.5)
    monkeypatch.setattr(Policy, "contact", 2.0)
