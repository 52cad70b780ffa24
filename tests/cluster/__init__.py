"""A stand-in for Argo's controller, for the part of Argo that the compiler writes.

It runs the manifests that the compiler emits, so that tests can compare what a run gives with what the Python
of the pipeline says. What it does is what a real controller did (version 4.1.2); anything that the compiler
does not write raises `Unsupported`, and anything that would make a run wait for ever raises `Hang`.

syntax, expr: expressions. golang: texts as Go writes them. tags: the replacement of `{{...}}`. items: those of
loops. store: the artifact repository. kubelet, pod: variables, paths, and programs, which are really executed.
graph, run: the controller. plain: the steps as the functions they are. pipelines/: what is run.
"""
