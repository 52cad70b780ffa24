"""The first lines of a script whose step asks for packages or for modules of the user's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.steps.script import quote

if TYPE_CHECKING:
    from flowdsl.compiler import ir

CODE = "/tmp/flowdsl/code"
"""Where the modules of the user's own are: a repository, or a folder of a volume."""

PACKAGES = "/tmp/flowdsl/packages"
"""An empty folder for what pip installs: the image may be read-only, and belong to another user."""

_FIRST = "from __future__ import annotations\n"
_HEAD = """

def _flowdsl_prepare():
    import {imports}
"""
_PIP = """
    packages = [{packages}]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
    work = os.path.join({folder}, "tmp")
    os.makedirs(work, exist_ok=True)
    variables = dict(os.environ, PIP_USER="0", TMPDIR=work)
    if subprocess.call([*pip, "--target", {target}, *packages], env=variables) != 0:
        sys.exit({failed})
"""
_TAIL = """
    folders = [{folders}]
    sys.path[:0] = folders
    os.environ["PYTHONPATH"] = os.pathsep.join([*folders, *filter(None, [os.environ.get("PYTHONPATH")])])


_flowdsl_prepare()
"""


def folders(code: ir.Code) -> list[str]:
    """The folders that are put on the import path, the first one first."""
    found = [f"{PACKAGES}/site"] if code.packages else []
    if code.repository is not None:
        found.insert(0, f"{CODE}/{code.folder}".rstrip("/"))
    elif code.volume is not None:
        found.insert(0, CODE)
    return found


def prepared(script: str, step: str, code: ir.Code) -> str:
    """A script that finds the packages and modules of its step before anything of the user's is executed.

    pip is that of the image, and gets its arguments as a list: no shell reads them. What it installs goes to
    a folder of its own. Also other programs that the step starts find both, by `PYTHONPATH`.
    """
    found = folders(code)
    if not found:
        return script
    assert script.startswith(_FIRST)
    text = _HEAD.format(imports="os, subprocess, sys" if code.packages else "os, sys")
    if code.packages:
        failed = f"step {step}: pip could not install the packages of the step, for the reason above"
        text += _PIP.format(
            packages=", ".join(map(quote, code.packages)),
            folder=quote(PACKAGES),
            target=quote(f"{PACKAGES}/site"),
            failed=quote(failed),
        )
    text += _TAIL.format(folders=", ".join(map(quote, found)))
    return _FIRST + text + script.removeprefix(_FIRST)
