"""What can be wrong with a text as YAML."""

from __future__ import annotations

from flowdsl.diagnostic import Finding


class InvalidYaml(Finding):
    """A text that is neither YAML nor JSON."""

    code = "FD120"
    title = "this is not YAML: {reason}"
    help = "{way}"
    reason: str
    way: str = (
        "correct the text here; quote text that contains `: ` or ` #`, or begins with a special character"
    )


class RepeatedKey(Finding):
    """A key that appears twice in one mapping: readers keep one of the values, or refuse the file."""

    code = "FD121"
    title = "the key `{name}` appears twice here"
    label = "only one of the two would count"
    help = "{way}"
    name: str
    written: str = ""

    def words(self) -> dict[str, str]:
        """The key, and what to do."""
        read = f"put `{self.written}` in quotes, without which it is read as `{self.name}`"
        return {"name": self.name, "way": read if self.written not in ("", self.name) else "keep one of them"}


class KeyNotText(Finding):
    """A key that is a list, a mapping or nothing."""

    code = "FD122"
    title = "{what} is used as a key"
    help = "{way}"
    what: str = "a mapping or list"
    way: str = "put text that begins with `{{` in quotes: YAML takes a brace for a mapping"


class UnknownTag(Finding):
    """A YAML tag that means nothing to Kubernetes."""

    code = "FD123"
    severity = "warning"
    title = "the tag `{tag}` means nothing here"
    label = "ignored; what follows it is taken as it is"
    help = "remove it, or quote the text if it begins with `!`"
    tag: str


class NotFinite(Finding):
    """A number that is infinite or NaN: JSON, in which Kubernetes receives it, cannot express it."""

    code = "FD127"
    title = "`{written}` is not a number that can be sent to Kubernetes"
    help = 'put it in quotes if text is meant: "{written}"'
    written: str


class KeyReadOtherwise(Finding):
    """A key without quotes that YAML reads as a value, and Kubernetes as the text of that value."""

    code = "FD126"
    severity = "warning"
    title = "without quotes, the key `{written}` is read as `{read}`"
    label = "read as `{read}`"
    help = 'put it in quotes: `"{written}"`'
    written: str
    read: str


class MergedToo(Finding):
    """A key that `<<` merges in beside one of the same name: Argo's own command sees it twice."""

    code = "FD128"
    severity = "warning"
    title = "`argo submit` and `argo lint` refuse the key `{name}`, which {again}"
    label = "kubectl takes {taken}"
    help = "write the mapping out; or submit it with kubectl or flowdsl"
    name: str
    again: str
    taken: str
