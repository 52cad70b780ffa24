"""What can be wrong with a step that runs on several pods at once."""

from __future__ import annotations

from flowdsl.diagnostic import Finding


class BesideDistributed(Finding):
    """An option that means nothing where a step runs on several pods."""

    code = "FD357"
    title = "`{name}` does not go with `distributed`: {reason}"
    label = "not available on several pods"
    help = "{way}"
    name: str
    reason: str
    way: str


class ProcessesShare(Finding):
    """More processes in each pod than it has GPUs."""

    code = "FD859"
    severity = "warning"
    title = "{processes} processes of each pod share {count} GPU{plural}"
    label = "more than its GPUs"
    help = "leave `processes` out for one process on each GPU, or ask for gpu={processes}"
    processes: int
    count: int

    def words(self) -> dict[str, str]:
        """The fields, and the plural of the GPUs."""
        return {**super().words(), "plural": "" if self.count == 1 else "s"}


class MeetingVariable(Finding):
    """A variable by which the pods of a step meet, set by hand."""

    code = "FD358"
    title = "`{name}` is a variable by which the pods of a distributed step find each other"
    label = "set for each of them"
    help = "leave it out; the number of pods and processes, and the port, are words of `distributed`"
    name: str


class WorkersTake(Finding):
    """A file in the artifact repository for pods that Argo does not create."""

    code = "FD359"
    title = "`{step}` runs on several pods, which cannot have `{name}`, a file of the artifact repository"
    label = "not on a volume"
    help = (
        'keep it on a volume: `store=Volume("claim") / "runs"` of the pipeline, or of the step that returns it; a file '
        "from outside the run is there if such a step returns a copy"
    )
    step: str
    name: str


class WorkersReturn(Finding):
    """Results of several pods without a volume to leave them on."""

    code = "FD360"
    title = "`{step}` runs on several pods, but what it returns has no volume to go to"
    label = "needs a `store`"
    help = 'say where: store=Volume("claim") / "runs", of the pipeline or of this step; or return None'
    step: str


class SharedByWorkers(Finding):
    """Pods of one step that write to a claim of one node, or mount a claim of one pod."""

    code = "FD361"
    title = "all {count} pods of `{step}` {use} `{volume}`, which is {mode}"
    label = "cannot be mounted {where} meanwhile"
    help = "use a claim that is ReadWriteMany{way}"
    step: str
    count: int
    volume: str
    mode: str

    def words(self) -> dict[str, str]:
        """The fields, and what the mode does not allow."""
        of_a_pod = self.mode == "ReadWriteOncePod"
        use, where, way = "write to", "on another node", "; or mount it `.ro` if it is only read"
        if of_a_pod:
            use, where, way = "mount", "in another pod", " or, if it is only read, ReadOnlyMany"
        return {**super().words(), "use": use, "where": where, "way": way}


class ReadByWorkers(Finding):
    """Pods of one step that read a claim of one node, and run at the same time."""

    code = "FD382"
    severity = "warning"
    title = "all {count} pods of `{step}` read `{volume}`, which is ReadWriteOnce"
    label = "a pod on another node waits for it, and all pods for each other"
    help = (
        "use a claim that is ReadWriteMany or ReadOnlyMany, or bind the step to one node:"
        ' node={{"kubernetes.io/hostname": "..."}}'
    )
    step: str
    count: int
    volume: str


class ServersAlone(Finding):
    """Parameter servers where nothing ends them."""

    code = "FD367"
    title = "`ps={ps}`: parameter servers need an operator that ends them with the training"
    label = "would run forever"
    help = 'use operator="tfjob", on a cluster that has Kubeflow\'s training operator; or leave `ps` out'
    ps: int
