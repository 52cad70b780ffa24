"""The compiler: from the trace of a pipeline to Argo YAML."""

from __future__ import annotations

from flowdsl.compiler.compile import Compiled, InternalError, compile_loaded

__all__ = ["Compiled", "InternalError", "compile_loaded"]
