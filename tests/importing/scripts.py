"""The pipeline `scripts`."""

from flowdsl import command, container, pipeline


@container(image="busybox:1.37.0")
def shell(who: str) -> str:
    source = r"""
        # for '$WHO
        said="it's $(echo "${WHO}"'s' "$WHO")"
        echo 'one "'"$WHO"'"' \'$WHO\' ${WHO}_x
        printf '%s\n' \
          $WHO=1
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
def program(who: str, words: str, workflow_who: str, width: int) -> None:
    source = r'''
        import ast
        import os
        import json
        greeting = ("hello " + os.environ["WHO"] + "!")
        parts = [os.environ["WHO"], (r'\d' + os.environ["WHO"])]
        for word in ast.literal_eval(os.environ["WORDS"]):
            print(f"{len(word)} {os.environ['WHO']}", (os.environ["WHO"] + "-" + os.environ["WHO_2"]))
            print(("""two
            """ + os.environ["WHO"] + """ lines"""), greeting, parts, json.loads(os.environ["WORDS"]), word)
            print(f"{ ast.literal_eval(os.environ['WIDTH']) + 1 } {{{word}}} {word:>{os.environ['WIDTH']}}")
    '''
    command(
        "python3",
        "-u",
        source=source,
        env={"WHO": who, "WORDS": words, "WHO_2": workflow_who, "WIDTH": width},
    )


@container(image="busybox:1.37.0")
def words_(who: str) -> None:
    command("echo", "$(HOME)", "$5", f"{who}: 'quoted' and \"quoted\"")


@container(image="busybox:1.37.0")
def in_place(who: str) -> None:
    source = """
        echo "$WHO"
    """
    command("sh", source=source, env={"WHO": who})


@container(image="node:22")
def node(source: str, words: str, who: str, width: int) -> None:
    script = r"""
        // of 'JSON.parse(process.env["SOURCE"])'
        const words = JSON.parse(process.env["WORDS"]);
        const name = process.env["SOURCE"], path = `/${name}/${process.env["SOURCE"]}`;
        console.log(("it's " + process.env["SOURCE"] + " and " + process.env["WHO"]), name, path, words.length);
        console.log(`${ JSON.parse(process.env["WIDTH"]) + 1 } ${words.map(word => `<${word}>`)} \${ ${process.env["WIDTH"]}`);
    """
    command(
        "node",
        source=script,
        env={"SOURCE": source, "WORDS": words, "WHO": who, "WIDTH": width},
    )


@pipeline
def scripts(words: str = '["a", "b"]', who: str = "you", width: int = 5) -> None:
    shell_ = shell(who=who)
    program_ = program.options(after=[shell_])(
        who=who,
        words=words,
        workflow_who=who,
        width=width,
    )
    words_2 = words_.options(name="words", after=[program_])(who=who)
    in_place_ = in_place.options(after=[words_2])(who=who)
    node.options(after=[in_place_])(source=who, words=words, who=who, width=width)
