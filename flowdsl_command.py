"""The command `flowdsl`, where it begins: nothing is imported before Ctrl-C can end it."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sys import UnraisableHookArgs


def main() -> None:
    """Run the command in `sys.argv` and exit with its code."""
    import sys

    try:
        sys.unraisablehook = _unraisable
        from flowdsl.cli import main as run

        run()
    except KeyboardInterrupt:  # before `run` could see to it, or after
        sys.exit(130)
    except RuntimeError as error:  # Python 3.11 wraps what `__set_name__` raises
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        sys.exit(130)


def _unraisable(ignored: "UnraisableHookArgs") -> None:
    """Repeat a Ctrl-C that came where Python goes on whatever is raised, as in what it does after each import."""
    import sys

    if not issubclass(ignored.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(ignored)
        return
    import _thread
    import signal
    import time

    def again() -> None:
        time.sleep(0.01)  # by then Python is out of there
        deaf = signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # as in the background: then it was SIGTERM
        _thread.interrupt_main(signal.SIGTERM if deaf else signal.SIGINT)

    _thread.start_new_thread(again, ())
