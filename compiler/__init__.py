"""The compiler: from the trace of a pipeline to Argo YAML. `compile.py` is the way in."""
