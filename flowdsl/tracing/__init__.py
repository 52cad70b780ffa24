"""Tracing: runs the body of a pipeline once on stand-ins, and records its calls and their conditions."""
