"""The execution of a compiled manifest on one machine, with the semantics of Argo's controller.

- `controller`: what the controller decides. Pure: events in, actions out; no clock, no process, no file.
- `pods`: what the kubelet and Argo's executor do: processes, mounts, files, artifacts.
- What stands beside them goes between both: a run's folder and its journal. The journal is the list of the machine's
  events, so that a run is taken up again by giving them to a new machine.
"""
