"""What can be wrong with a file before anything in it means something."""

from __future__ import annotations

from flowdsl.diagnostic import Finding, suggest


class InvalidSyntax(Finding):
    """The file is not Python, or is written for another version of Python."""

    code = "FD101"
    title = "{reason}"
    help = "{way}"
    reason: str
    python: str
    notebook: bool = False
    line: str = ""

    def words(self) -> dict[str, str]:
        """The fields, and the way out."""
        way = f"correct the line, or run flowdsl with the Python that the file is written for: this is {self.python}"
        if self.line.lstrip()[:1] in ("%", "!"):
            way = "leave the line out: it is for a notebook"
        if self.notebook:
            way = "write cells into a file: begin them with `%%writefile FILE.py`; or `jupyter nbconvert --to script`"
        return {**super().words(), "way": way}


class NoFile(Finding):
    """There is nothing at the path."""

    code = "FD102"
    title = "there is no file `{path}`"
    help = "{hint}"
    path: str
    hint: str


class Folder(Finding):
    """The path is a folder."""

    code = "FD103"
    title = "`{path}` is a folder, not a file"
    help = "name a file in it{hint}"
    path: str
    hint: str


class WrongEncoding(Finding):
    """The bytes are not text in the encoding of the file."""

    code = "FD104"
    title = "the file is not text that Python can read: {reason}"
    help = "save it as UTF-8, or name its encoding in its first line: `# coding: latin-1`"
    reason: str


class Exits(Finding):
    """The file ends the process while it is imported, or a pipeline does while its body runs."""

    code = "FD105"
    title = "{what} ends Python when it is {when}: {exit}"
    help = "{way}"
    exit: str
    pipeline: str = ""

    def words(self) -> dict[str, str]:
        """The fields, and what ends when."""
        file = {
            "what": "the file",
            "when": "loaded",
            "way": 'put what only a script does under `if __name__ == "__main__":`',
        }
        body = {
            "what": f"the body of `{self.pipeline}`",
            "when": "compiled",
            "way": "leave it out, or let a step raise an exception: this body runs before the run",
        }
        return {**super().words(), **(body if self.pipeline else file)}


class Raised(Finding):
    """The file raises an exception while it is imported, or the body of a pipeline does.

    As text, Python's own traceback is shown instead.
    """

    code = "FD107"
    title = "{what} raised {error}"
    help = "{way}"
    error: str
    module: str
    pipeline: str = ""
    known: str = ""
    """The way out, where more is known than that a module is missing."""

    def words(self) -> dict[str, str]:
        """The fields, what raised, and the way out."""
        way = "correct what raises it: the traceback on standard error shows how it came to this"
        if self.known:
            way = self.known
        elif self.module:
            top = self.module.partition(".")[0]
            way = f"install `{top}` where flowdsl runs, or import it inside the steps that need it"
        what = f"the body of `{self.pipeline}`" if self.pipeline else "the file"
        return {**super().words(), "what": what, "way": way}


class Unreadable(Finding):
    """The operating system refuses to read the file."""

    code = "FD106"
    title = "`{path}` cannot be read: {reason}"
    help = "make it readable for yourself, or name another file"
    path: str
    reason: str


class NoPipeline(Finding):
    """A file without a pipeline, or a folder without anything to check."""

    code = "FD110"
    title = "there is no {what} in {path}"
    help = "{way}"
    path: str
    folder: bool = False
    foreign: str = ""

    def words(self) -> dict[str, str]:
        """The fields, what is wanted, and the way out."""
        what, way = (
            "pipeline",
            self.foreign
            or (
                "put @pipeline above the function that calls the steps;"
                " steps for other files are checked with their folder"
            ),
        )
        if self.folder:
            what = "pipeline, YAML or JSON"
            way = "name a folder of files that import flowdsl, or of workflows of Argo"
        return {**super().words(), "what": what, "way": way}


class Redefined(Finding):
    """A step or pipeline that is replaced by another function of the same name."""

    code = "FD112"
    title = "`{name}` is defined twice"
    label = "replaces the first"
    help = "rename one of them, or remove it"
    name: str


class UnknownPipeline(Finding):
    """A NAME that is not a pipeline of the file."""

    code = "FD111"
    title = "there is no pipeline `{name}` in {path}: {hint}"
    help = "{way}"
    path: str
    name: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, the pipeline that was probably meant, and the way out."""
        hint, way = "it has none", "put @pipeline above the function that calls the steps"
        if self.known:
            hint = suggest(self.name, self.known)
            way = "name a pipeline of the file after the colon, or leave the name out"
        return {**super().words(), "hint": hint, "way": way}
