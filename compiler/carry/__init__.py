"""The source code that a step needs: its function, and what that uses of its module and its project."""
