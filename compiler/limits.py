"""Limits of Argo and of Linux that both the lint of a manifest and its local run keep."""

from __future__ import annotations

DEEPEST = 100
"""The nesting depth that templates may not reach. Source: Argo, maxStackDepth in workflow/controller/controller.go."""

MOST_ENVIRONMENT = 131_072
"""The bytes of a template above which it is passed as a file, not in a variable. Source: Argo, MaxEnvVarLen."""

MOST_VARIABLE = 131_072
"""The most bytes of an environment variable or argument, with its NUL. Source: Linux, MAX_ARG_STRLEN."""
