"""Compiled pipelines run here, and what comes of it is compared with what the Python of the pipelines says.

pipelines/: what is run. expected, plain: the steps as the functions they are. world: compiled files, and volumes with
what is read. run: a run of a manifest by `flowdsl.runtime.local`, with processes, as these tests look at it.
The examples, and what README and docs show, run too.
"""
