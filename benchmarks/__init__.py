"""Benchmarks: the same pipelines built with flowdsl, Hera and KFP, side by side in one run."""
