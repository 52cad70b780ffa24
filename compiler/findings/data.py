"""What can be wrong with volumes, with files from outside of the run, and with how files are packed."""

from __future__ import annotations

from typing import get_args

from flowdsl.artifact import Packed
from flowdsl.compiler.findings.kinds import result_of
from flowdsl.diagnostic import Finding, suggest


class SameVolume(Finding):
    """Two different volumes with one name."""

    code = "FD625"
    title = "two different volumes are named `{name}`"
    label = "this one differs"
    help = "give each its own name, or define it once and use it in both places"
    name: str


class MountedReadOnly(Finding):
    """A read-only claim, mounted for writing."""

    code = "FD626"
    title = "the volume `{name}` is ReadOnlyMany, but is mounted for writing"
    label = "Kubernetes mounts it read-only"
    help = 'mount it read-only: mounts={{"{path}": volume.ro}}'
    name: str
    path: str


class NewReadOnly(Finding):
    """A claim made for the run that nothing could ever write to."""

    code = "FD627"
    title = "the new volume `{name}` is ReadOnlyMany, so nothing could fill it"
    label = "it would stay empty"
    help = "write ReadWriteOnce, ReadWriteMany or ReadWriteOncePod"
    name: str


class WholeObject(Finding):
    """A ConfigMap or Secret without a key, where one text is needed."""

    code = "FD628"
    title = "`{variable}` takes one text, but {what} `{name}` may have many"
    label = "which key?"
    help = 'name the key: {word}("{name}", "key")'
    variable: str
    what: str
    name: str
    word: str


class HostPath(Finding):
    """A path on a node that Kubernetes refuses."""

    code = "FD629"
    title = "`{have}` is not a path on a node"
    label = "must begin with `/`, and contain no `..`"
    help = 'write the whole path: Host("/mnt/cache")'
    have: str


class SharedWrite(Finding):
    """Steps that use one claim at the same time that only one node, or only one pod, can mount."""

    code = "FD630"
    title = "{both} {may} at the same time, and both {use} `{volume}`, which is {mode}"
    label = "cannot be mounted {where} meanwhile"
    help = "{way}"
    step: str
    other: str
    volume: str
    mode: str
    beside: bool  # a daemon, which runs as long as what waits for it

    def words(self) -> dict[str, str]:
        """The fields, the steps in words, and the way out."""
        apart = f"`{self.step}` and `{self.other}`"
        use, where = ("write to", "on another node")
        if self.mode == "ReadWriteOncePod":
            use, where = "mount", "in another pod"
        way = (
            "let one wait for the other, by a value or by `options(after=...)`; or mount it `.ro` where it is only"
            " read; or use a claim that is ReadWriteMany, or ReadWriteOncePod, for which pods wait"
        )
        if self.beside:
            way = "use a claim that is ReadWriteMany: a daemon keeps its own until the pipeline that calls it ends"
        return {
            **super().words(),
            "both": f"two calls of `{self.step}`" if self.step == self.other else apart,
            "may": "run" if self.beside else "may run",
            "use": use,
            "where": where,
            "way": way,
        }


class SharedLoop(Finding):
    """Items of a loop that write to one ReadWriteOnce claim at the same time."""

    code = "FD631"
    title = "items of `{step}` run at the same time, and all write to `{volume}`, which is ReadWriteOnce"
    label = "cannot be mounted on another node meanwhile"
    help = (
        "run one at a time with `parallel=1`; or mount it `.ro` if it is only read; or use a claim that is"
        " ReadWriteMany, or ReadWriteOncePod, for which pods wait"
    )
    step: str
    volume: str


class ReadUnwritten(Finding):
    """A claim of the run that is read before anything is written to it."""

    code = "FD648"
    severity = "warning"
    title = "`{step}` reads `{volume}`, but nothing that ends before it writes there"
    label = "{state}"
    help = "{way}"
    step: str
    volume: str
    writer: str  # of those that do not end before, if there are any

    def words(self) -> dict[str, str]:
        """The fields, and the way out."""
        wait = "let it wait for the step that writes, by a value or by `options(after=[...])`"
        other = (
            "let a step that mounts it, without `.ro`, write to it before; a claim that exists is a `Volume`"
        )
        state = "a claim that is made for the run is empty at first"
        words = ("it may not be written yet", wait) if self.writer else (state, other)
        return {**super().words(), "state": words[0], "way": words[1]}


class NoBucket(Finding):
    """Arguments about a bucket, without a bucket."""

    code = "FD632"
    title = "`{word}` without a bucket has no effect"
    label = "the key is looked up in the repository of the cluster"
    help = 'name the bucket: S3("{key}", "bucket"), or leave out `{word}`'
    word: str
    key: str


class HalfLogin(Finding):
    """Half of a login."""

    code = "FD633"
    title = "`{word}` without `{other}` is not a login"
    label = "not used alone"
    help = "write both `{word}` and `{other}`, or neither"
    word: str
    other: str


class SecretHeader(Finding):
    """A Secret as a header of `Http`, a file from the web."""

    code = "FD634"
    title = "the header `{name}` of a file cannot come from a Secret"
    label = "Argo takes only strings here"
    help = (
        "log in with `username=` and `password=`, which take Secrets; or make the request in a step,"
        " with `secrets=`"
    )
    name: str


class SourceWord(Finding):
    """An argument of a source that has the wrong type or value."""

    code = "FD635"
    title = "`{word}` of {source} must be {want}, not {have}"
    label = "not {want}"
    help = "write {want}"
    word: str
    source: str
    want: str
    have: str


class LostDollar(Finding):
    """A text in which Kubernetes replaces a `$`."""

    code = "FD636"
    title = "`{text}` would arrive as another text"
    label = "Kubernetes replaces it on the way to the pod"
    help = "let a step write the file"
    text: str


class UnlikeSources(Finding):
    """Items of a loop whose files come from different kinds of places."""

    code = "FD637"
    title = "the items of `{parameter}` come from different kinds of places"
    label = "{one} and {other}"
    help = (
        "take them from one kind of place, with the same secrets and options, so that only strings differ; or call "
        "the step for each in Python's own `for`"
    )
    parameter: str
    one: str
    other: str


class UnevenItems(Finding):
    """Items of a loop that do not have the same files."""

    code = "FD644"
    title = "the items of `{parameter}` do not have the same files"
    label = "{one} and {other}"
    help = (
        "give every item the same number of files, under the same keys; or call the step for each in "
        "Python's own `for`"
    )
    parameter: str
    one: str
    other: str


class NoSshKey(Finding):
    """A repository that is fetched over SSH without a key."""

    code = "FD646"
    title = "`{url}` is fetched over SSH, but no key is given"
    label = "needs `ssh_key`"
    help = (
        'give the key of an account that may read it: ssh_key=Secret("git", "key"); or fetch it over https://'
    )
    url: str


class SourceChoice(Finding):
    """A choice between files that cannot be made where it is written."""

    code = "FD638"
    title = "only a Python step can choose between these files, and they go to {where}"
    label = "one may be missing, or they are kept in different places"
    help = "pass the choice to a Python step, which can return the file it was given"
    where: str


class SourceHanded(Finding):
    """A file from outside the run that a pipeline passes on where no location can follow it."""

    code = "FD639"
    title = "`{pipeline}` passes on a file it was given, but {why}"
    label = "Argo cannot pass on where the file is"
    help = "use the file itself here; what a step of `{pipeline}` returns can be passed on"
    pipeline: str
    why: str


class SourceReturned(Finding):
    """A pipeline that returns a file from outside the run."""

    code = "FD896"
    title = "`{pipeline}` returns a file from outside the run"
    label = "Argo hands on only what a task made, or what the pipeline was given"
    help = (
        "write the file where it is used; or pass it to a Python step, which can return the file it was given"
    )
    pipeline: str


class UnknownArchive(Finding):
    """A packing format that Argo does not have."""

    code = "FD640"
    title = "`{name}` cannot be {have}"
    label = "{meant}"
    help = 'write "tar", "zip" or "none"{more}'
    name: str
    have: str
    more: str

    def words(self) -> dict[str, str]:
        """The fields, and the way that was probably meant."""
        have = self.have.strip("'\"")
        # `tgz` is meant to be `tar`, and `rar` is not, however near they are.
        meant = {"gz": "tar", "gzip": "tar", "tgz": "tar", "tar.gz": "tar", "no": "none"}.get(
            have.lower(), ""
        )
        if have.lower() in get_args(Packed):
            meant = have.lower()
        return {
            **super().words(),
            "meant": f"did you mean `{meant}`?" if meant else "not a way to pack a file",
        }


class ArchiveOutput(Finding):
    """A packing format for an output that is not a file."""

    code = "FD641"
    title = "`{step}` returns no file {shown}that could be packed"
    label = "{meant}"
    help = "name an output that is a Path, or leave it out"
    step: str
    name: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the output that was probably meant."""
        meant = suggest(self.name, self.known) if self.name else ""
        shown = f"`{self.name}` " if self.name else ""
        return {**super().words(), "meant": meant or "there is nothing to pack", "shown": shown}


class ArchiveKeyed(Finding):
    """A packing format for a file that is read by its key."""

    code = "FD642"
    title = "{what} cannot be packed: it crosses a loop, a branch or a pipeline, or files are taken out of it"
    label = "such a file is read by its key, as it is"
    help = 'leave it as it is: archive={{"{name}": "none"}}'
    step: str
    name: str

    def words(self) -> dict[str, str]:
        """The fields, and the output in words."""
        return {**super().words(), "what": result_of(self.step, self.name)}


class FolderOfRepository(Finding):
    """A folder of a Git repository where a file or folder is needed."""

    code = "FD643"
    title = "a folder of a Git repository can only be given as `code=`"
    label = "Argo fetches the whole repository"
    help = 'pass Git(...) itself, and use its folder inside the step: `repository / "src"`'


class NoCheckpoints(Finding):
    """A folder for checkpoints without a volume."""

    code = "FD690"
    title = "nothing says which volume keeps the checkpoints of `{step}`"
    label = "no place for the folder"
    help = (
        'name one for the pipeline: @pipeline(checkpoints=Volume("datasets") / "checkpoints"); or for a '
        "step, or as `checkpoints` in the profile of the cluster"
    )
    step: str


class CheckpointUse(Finding):
    """A folder for checkpoints that is not an argument of a step."""

    code = "FD691"
    title = "`run.checkpoint_dir` is the folder of the one task that receives it"
    label = "not an argument of a step"
    help = (
        "pass it directly to the step: train(corpus, run.checkpoint_dir); if that is in a called pipeline, "
        "use it there"
    )
