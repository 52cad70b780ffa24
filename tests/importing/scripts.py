"""The pipeline `scripts`."""

from flowdsl import command, container, pipeline


@container(image="busybox:1.37.0")
def shell(who: str) -> str:
    source = r"""
        # for '$WHO
        said="it's $(echo "${WHO}"'s' "$WHO")"
        echo 'one "'"$WHO"'"' \'$WHO\' ${WHO}_x
        cat > /tmp/said.txt <<END
        $WHO's $said
        END
    """
    return command(
        "sh",
        "-e",
        source=source,
        env={"WHO": who},
        paths={"return": "/tmp/said.txt"},
    )


@container(
    image="python:3.12-slim",
    env={"BASE": "/data"},
    argo={"script": {"env": [{"name": "FOLDER", "value": "$(BASE)/raw"}]}},
)
def program(who: str, words: str) -> None:
    source = r"""
        import ast
        import os
        import json
        greeting = ("hello " + os.environ["WHO"] + "!")
        parts = [os.environ["WHO"], (r'\d' + os.environ["WHO"])]
        for word in ast.literal_eval(os.environ["WORDS"]):
            print(greeting, parts, json.loads(os.environ["WORDS"]), word)
    """
    command("python3", "-u", source=source, env={"WHO": who, "WORDS": words})


@container(image="busybox:1.37.0")
def words_(who: str) -> None:
    command("echo", "$(HOME)", "$5", f"{who}: 'quoted' and \"quoted\"")


@pipeline
def scripts(words: str = '["a", "b"]', who: str = "you") -> None:
    shell_ = shell(who=who)
    program_ = program.options(after=[shell_])(who=who, words=words)
    words_.options(after=[program_])(who=who)
