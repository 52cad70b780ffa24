from __future__ import annotations

from hypothesis import settings

# The same examples on every machine, and no verdict that depends on its speed.
settings.register_profile("flowdsl", derandomize=True, deadline=None)
settings.load_profile("flowdsl")
