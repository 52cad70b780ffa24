"""How much is proven: all, or with FLOWDSL_PROOFS=short a part that fits into the time of CI."""

from __future__ import annotations

import os

SHORT = os.environ.get("FLOWDSL_PROOFS") == "short"
