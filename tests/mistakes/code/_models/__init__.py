"""A module of the user's own."""


def train(rows: int) -> int:
    return rows


def show(rows: int) -> None:
    print(rows)
