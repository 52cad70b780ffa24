"""Executes a compiled manifest on one machine, with the semantics of Argo's controller.

- `controller`: what the controller decides. Pure: events in, actions out; no clock, no process, no file.
- `pods`: what the kubelet and Argo's executor do: processes, mounts, files, artifacts.
- The other modules connect the two: the folder of a run and its journal. The journal lists the events of the machine,
  so that a run is resumed by replaying them to a new machine.
"""

FOLDER = ".flowdsl"
"""The folder of a project that has what runs on this machine leave: their own folders, volumes and cached results."""

GIVEN = "flowdsl-given"
"""Where the keys of files begin that the command line gives for parameters."""
