"""Shell completion of commands, options and their values, and `--install-completion`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from flowdsl.cli.process import DONE, Refused, out

if TYPE_CHECKING:
    from pathlib import Path

    from cyclopts import App

Shell = Literal["bash", "zsh", "fish", "powershell"]


def install(app: App, shell: Shell | None, output: Path | None) -> int:
    """Write the completion script, and unless it goes to `output`, have the shell load it; returns the exit code."""
    from cyclopts.completion.detect import ShellDetectionError, detect_shell

    try:
        known = shell or detect_shell()
        path = app.install_completion(shell=known, output=output, add_to_startup=output is None)
    except ShellDetectionError:
        raise Refused("the shell in use is unknown: name it, as --shell bash") from None
    except OSError as error:
        raise Refused(f"{error.filename} cannot be written: {error.strerror}") from error
    out(f"completion for {known}: {path}\n")
    if output is None:
        out("a new shell uses it\n")
    return DONE
