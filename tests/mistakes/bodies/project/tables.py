"""A module beside the pipelines."""


def count_rows(table: str) -> int:
    return len(table)


def split(table: str) -> list[str]:
    return table.split(".")
