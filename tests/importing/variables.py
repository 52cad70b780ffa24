"""The pipeline `vars_`."""

from flowdsl import command, container, pipeline


@container(image="busybox:1.37.0")
def a(n: int, uri: str, table: str, file: str) -> None:
    source = """
        TABLE="$TABLE"
        N=$N_2
        N=$((N+1))
        echo "$N $N_2"
        echo "$URI_2 ${URI:-unset} $TABLE"
        for FILE in x y; do echo "$FILE $FILE_2"; done
    """
    command(
        "bash",
        source=source,
        env={"TABLE": table, "N_2": n, "URI_2": uri, "FILE_2": file},
    )


@container(image="python:3.12-slim")
def b(n: int, home_dir: str) -> None:
    source = """
        import ast
        import os
        os.environ["N"] = "5"
        print(ast.literal_eval(os.environ["N_2"]), os.getenv("N"), os.environ.get('HOME_DIR'), os.environ["HOME_DIR_2"])
    """
    command("python3", source=source, env={"N_2": n, "HOME_DIR_2": home_dir})


@container(image="busybox:1.37.0")
def c(n: int, name: str) -> None:
    command(
        "bash",
        "-c",
        "read NAME <<< 'zz'; echo $NAME $NAME_2; N=7 && echo $N_2",
        env={"NAME_2": name, "N_2": n},
    )


@container(image="busybox:1.37.0")
def d(n: int, uid: int, class_: str) -> None:
    source = """
        echo "$KIND is $KIND of user $UID_2"
        N=$((N+1))
        echo "$N $N_2"
    """
    command("bash", source=source, env={"N": n, "KIND": class_, "UID_2": uid, "N_2": n})


@pipeline
def vars_() -> None:
    a(n=1, uri="u", table="t", file="f")
    b(n=1, home_dir="u")
    c(n=1, name="u")
    d(n=1, uid=7, class_="c")
