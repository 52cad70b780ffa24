"""The command `flowdsl`, where it begins: nothing is imported before Ctrl-C can end it."""


def main() -> None:
    """Run the command in `sys.argv` and exit with its code."""
    try:
        from flowdsl.cli import main as run

        run()
    except KeyboardInterrupt:  # before `run` could see to it, or after
        import sys

        sys.exit(130)
