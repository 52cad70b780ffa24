"""The body of a pipeline, run once on stand-ins: what it calls, and under which conditions."""
