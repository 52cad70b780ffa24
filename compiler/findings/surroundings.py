"""What can be wrong with what a container finds around it: variables, mounts, labels, objects of the cluster."""

from __future__ import annotations

from flowdsl.diagnostic import Finding, Unknown


class BadEnvName(Finding):
    """A name that no environment variable can have."""

    code = "FD283"
    title = "`{have}` cannot be the name of an environment variable"
    label = "Kubernetes refuses the name"
    help = "use letters, digits and `_`, and do not begin with a digit"
    have: str


class VariableTwice(Finding):
    """A variable of a container that has two values."""

    code = "FD383"
    title = "{what} is set twice: by `{option}`, and by {other}"
    label = "only one of the two would arrive"
    help = "give one of them another name, or leave it out"
    name: str
    option: str
    other: str
    own: bool  # a name that is no word of the user's

    def words(self) -> dict[str, str]:
        """The fields, and the variable in words."""
        return {**super().words(), "what": "this variable" if self.own else f"`{self.name}`"}


class BadMountPath(Finding):
    """A mount path that Kubernetes refuses."""

    code = "FD284"
    title = "this cannot be mounted at `{have}`"
    label = "{reason}"
    help = 'give each volume a path of its own: mounts={{"/data": volume}}'
    have: str
    reason: str

    def words(self) -> dict[str, str]:
        """The fields; a text that is empty is shown by its quotes."""
        return {**super().words(), "have": self.have or "''"}


class BadObjectName(Finding):
    """The name of a cluster object that Kubernetes refuses."""

    code = "FD340"
    title = "{have} cannot be the name of {what}"
    label = "Kubernetes refuses the name"
    help = "{way}"
    have: str
    what: str

    def words(self) -> dict[str, str]:
        """The fields, and what such a name is made of."""
        way = "write the name as `kubectl get` shows it: lower-case letters, digits, `-` and `.`"
        if self.what.startswith("a key"):
            way = "write the key as it is in the object: letters, digits, `-`, `_` and `.`"
        return {**super().words(), "way": way}


class SecretInText(Finding):
    """What seems to be a secret, in plain text."""

    code = "FD342"
    severity = "warning"
    title = "the value of `{name}` seems to be a secret, and would be readable in the YAML"
    label = "everybody who can see the workflow can read it"
    help = 'keep it in a Secret of the cluster: secrets={{"{name}": Secret("name", "key")}}'
    name: str


class BadLabelText(Finding):
    """A label or annotation of a form that Kubernetes refuses."""

    code = "FD343"
    title = "`{have}` cannot be {what}"
    label = "Kubernetes refuses it"
    help = "{form}"
    have: str
    what: str

    def words(self) -> dict[str, str]:
        """The fields, and the form that Kubernetes asks for."""
        form = "write at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends"
        if self.what.startswith("the key"):
            form = "write `name` or `domain/name`, the name of at most 63 letters, digits, `-`, `_` and `.`"
        return {**super().words(), "form": form}


class OutsideVolume(Finding):
    """A path that leads out of its volume."""

    code = "FD344"
    title = "`{have}` leads out of the volume `{volume}`"
    label = "`..` is refused"
    help = "name a folder or file on the volume"
    have: str
    volume: str


class UnknownMode(Unknown):
    """An access mode that Kubernetes does not have."""

    code = "FD348"
    title = "the access mode `{name}` is not known"
    help = "write ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod, as the claim has it"
