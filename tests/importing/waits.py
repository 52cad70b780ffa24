"""The pipelines `behind_a_skipped_task`, `behind_a_failure`, `any_of_two`, `one_goes_on`, `status`, `exit_hooks`, `loops_under_conditions`, `numbers_`, `asked`."""

from flowdsl import (
    command,
    container,
    fan_out,
    on_exit,
    on_failure,
    otherwise,
    pipeline,
    when,
)


@container(image="busybox:1.37.0")
def true() -> None:
    command("true")


@pipeline
def behind_a_skipped_task(go: str = "no") -> None:
    with when(go == "yes"):
        train = true()
        evaluate = true.options(after=[train])()
        true.options(name="deploy", after=[evaluate])()
    true.options(name="tell", after=[train])()


@container(image="busybox:1.37.0")
def true_2() -> None:
    command("true")


@pipeline
def behind_a_failure() -> None:
    train = true_2.options(may_fail=True)()
    with on_failure(train):
        mend = true_2()
        true_2.options(name="again", after=[mend])()


@container(image="busybox:1.37.0")
def false() -> None:
    command("false")


@container(image="busybox:1.37.0")
def true_3() -> None:
    command("true")


@pipeline(
    argo={
        "templates": [
            {
                "name": "any-of-two",
                "dag": {
                    "tasks": [
                        {
                            "name": "b",
                            "depends": "a.Succeeded || a.Failed || a.Errored",
                        },
                        {"name": "alert", "depends": "a.Failed || b.Failed"},
                        {"name": "unless", "depends": "!b.Omitted"},
                        {
                            "name": "also",
                            "depends": "a.Succeeded || a.Failed || a.Errored || a.Skipped || a.Daemoned",
                        },
                        {"name": "never", "depends": "b.Skipped"},
                    ],
                    "failFast": False,
                },
            },
        ],
    },
)
def any_of_two() -> None:
    false.options(name="a")()
    true_3.options(name="b")()
    true_3.options(name="alert")()
    true_3.options(name="unless")()
    true_3.options(name="also")()
    true_3.options(name="never")()


@container(image="busybox:1.37.0")
def false_2() -> None:
    command("false")


@container(image="busybox:1.37.0")
def true_4() -> None:
    command("true")


@pipeline
def one_goes_on() -> None:
    a = false_2()
    with on_failure(a):
        true_4.options(name="mend")()
    true_4.options(name="use", after=[a])()


@container(image="busybox:1.37.0")
def true_5() -> None:
    command("true")


@container(image="busybox:1.37.0")
def false_3() -> None:
    command("false")


@container(image="busybox:1.37.0")
def say(text: str) -> None:
    command("echo", text)


@pipeline(argo={"templates": [{"name": "status", "dag": {"failFast": False}}]})
def status() -> None:
    a = true_5()
    b = false_3()
    say.options(name="after-a", after=[a])(text="a: Succeeded")
    say.options(name="after-b", after=[b])(text="b: Succeeded")
    with on_exit(b) as b_ended:
        say.options(name="both", after=[a])(text=f"Succeeded {b_ended.status}")
    with on_failure(b) as b_ended:
        say.options(name="failed")(text=f"b: {b_ended.status}")


@container(image="busybox:1.37.0")
def true_6() -> None:
    command("true")


@container(image="busybox:1.37.0")
def false_4() -> None:
    command("false")


@container(image="busybox:1.37.0")
def say_2(text: str) -> None:
    command("echo", text)


@pipeline
def each_each(item: str) -> None:
    each = say_2(text=item)
    with on_exit(each):
        say_2.options(name="each-exit", may_fail=True)(text="bye")


@pipeline(
    argo={
        "templates": [
            {
                "name": "exit-hooks",
                "dag": {
                    "tasks": [
                        {"name": "b", "hooks": {"exit": {"template": "false-hook"}}},
                    ],
                },
            },
            {
                "name": "false-hook",
                "container": {"image": "busybox:1.37.0", "command": ["false"]},
            },
        ],
    },
)
def exit_hooks(go: str = "yes") -> None:
    a = true_6()
    with on_exit(a):
        a_exit = false_4.options(may_fail=True)()
    with when(go == "no"):
        b = true_6()
    each = fan_out(
        each_each.options(after=[a, a_exit, b]),
        over={"item": ["x", "true"]},
    )
    true_6.options(name="last", after=[each])()


@container(image="busybox:1.37.0")
def say_3(text: str) -> None:
    command("echo", text)


@container(image="busybox:1.37.0")
def true_7() -> None:
    command("true")


@pipeline
def asked_each(item: str, go: str) -> None:
    with when(go == "yes"):
        say_3.options(name="asked")(text=item)


@pipeline(
    argo={
        "templates": [
            {
                "name": "loops-under-conditions",
                "dag": {
                    "tasks": [
                        {
                            "name": "ended",
                            "depends": "asked.Succeeded || asked.Failed || asked.Errored",
                        },
                    ],
                },
            },
        ],
    },
)
def loops_under_conditions(go: str = "no") -> None:
    with when(go == "yes"):
        plain = fan_out(say_3, over={"text": ["x", "true"]})
    true_7.options(name="behind", after=[plain])()
    fan_out(asked_each.options(name="asked"), over={"item": ["x", "true"]}, go=go)
    true_7.options(name="ended")()


@container(image="busybox:1.37.0")
def measure() -> float:
    return command("echo", "1.0", stdout=True)


@container(image="busybox:1.37.0")
def spell() -> str:
    return command("echo", "1.00", stdout=True)


@container(image="busybox:1.37.0")
def say_4(text: str) -> None:
    command("echo", text)


@pipeline
def numbers_() -> None:
    measure_ = measure()
    spell_ = spell()
    with when(measure_ == 1):
        say_4.options(name="equal", after=[spell_])(text="equal")
    with otherwise():
        say_4.options(name="other", after=[spell_])(text="other")
    with when((measure_ == 1) | (measure_ == 2)):
        say_4.options(name="one-of", after=[spell_])(text="equal")
    with when(spell_ == "1"):
        say_4.options(name="spelled", after=[measure_])(text="equal")
    with otherwise():
        say_4.options(name="not-spelled", after=[measure_])(text="other")


@container(image="busybox:1.37.0")
def list_() -> list[str]:
    return command("echo", '["a", "b"]', stdout=True)


@container(image="busybox:1.37.0")
def twice(text: str) -> str:
    return command(
        "sh",
        "-c",
        "printf %s $TEXT$TEXT > /tmp/twice.txt",
        env={"TEXT": text},
        paths={"return": "/tmp/twice.txt"},
    )


@container(image="busybox:1.37.0")
def say_5(text: str) -> None:
    command("echo", text)


@container(image="python:3.12-slim")
def all_(texts: list[str]) -> None:
    command("python3", "-c", "import json, sys; print(json.loads(sys.argv[1]))", texts)


@pipeline
def asked(go: str = "no") -> None:
    list_2 = list_.options(name="list")()
    with when(go == "yes"):
        maybe = list_.options(after=[list_2])()
    each = fan_out(twice, over={"text": list_2})
    with when(go == "yes"):
        say_5.options(name="ran", after=[maybe, each])(text="ran")
    with otherwise():
        say_5.options(name="skipped", after=[maybe, each])(text="skipped")
    all_.options(after=[maybe])(texts=each)
