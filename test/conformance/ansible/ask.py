"""Asks the installed ansible-core what it makes of many small trees.

stdin:  a JSON list of {"directory": the tree, "arguments": what ansible-playbook is to be called with}
argument: the ansible.cfg to use; without one, that of the conformance trees
stdout: a JSON list, one answer each: {"status": exit status, "output" and "errors": what it printed, "events": see callback/record.py}

One process for all of them, a fork for each: most of a start of ansible-playbook is the import of its modules.
"""

import configparser
import gc
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# Nothing of the machine's or the user's own configuration may decide an answer. Set before the import, which reads it.
for name in [name for name in os.environ if name.startswith("ANSIBLE_")]:
    del os.environ[name]
os.environ.update(
    ANSIBLE_CONFIG=sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "ansible.cfg"),
    ANSIBLE_LOCALHOST_WARNING="0",
    ANSIBLE_NOCOLOR="1",
    ANSIBLE_PYTHON_INTERPRETER=sys.executable,
    COLUMNS="400",
)

from ansible import constants  # noqa: E402
from ansible.cli.playbook import PlaybookCLI  # noqa: E402
from ansible.plugins import loader  # noqa: E402


def load_plugins():
    """What every task of every run would otherwise load anew, in a process of its own."""
    for plugins in (loader.connection_loader, loader.become_loader, loader.shell_loader):
        list(plugins.all(class_only=True))
    for plugins in (loader.filter_loader, loader.test_loader):
        list(plugins.all())
    for name in ("debug", "set_fact", "include_vars", "fail"):
        loader.action_loader.get(name, class_only=True)
    gc.collect()
    gc.freeze()


def play(directory, arguments):
    """Runs ansible-playbook in this process and returns its exit status."""
    os.chdir(directory)
    configure(directory)
    try:
        return PlaybookCLI(["ansible-playbook", *arguments]).run() or 0
    except SystemExit as stop:
        return stop.code or 0
    except Exception as error:  # What ansible-playbook itself prints as ERROR! and ends with.
        print(f"ERROR! {error}", file=sys.stderr)
        return getattr(error, "_exit_code", getattr(error, "exit_code", 1))


def configure(directory):
    """Puts in force what the tree's own ansible.cfg says of variables; Ansible read its configuration at the import."""
    config = configparser.ConfigParser()
    config.read(f"{directory}/ansible.cfg")
    constants.DEFAULT_HASH_BEHAVIOUR = config.get("defaults", "hash_behaviour", fallback="replace")


def start(number, directory, arguments, scratch):
    """Plays in a child process, which leaves what it printed and what happened in files; returns the child's id."""
    child = os.fork()
    if child == 0:
        os.environ["WHOFIXES_EVENTS"] = f"{scratch}/{number}.events"
        os.environ["WHOFIXES_TREE"] = directory
        for stream, name in ((1, "output"), (2, "errors")):
            os.dup2(os.open(f"{scratch}/{number}.{name}", os.O_WRONLY | os.O_CREAT), stream)
        status = play(directory, arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    return child


def ask_all(questions):
    """The answers in the order of the questions, which are asked a processor's worth at a time."""
    answers, running = {}, {}
    with tempfile.TemporaryDirectory() as scratch:
        for number, question in enumerate(questions):
            if len(running) == (os.cpu_count() or 1):
                collect(running, answers)
            directory = os.path.realpath(question["directory"])
            running[start(number, directory, question["arguments"], scratch)] = number
        while running:
            collect(running, answers)
        return [
            {
                "status": answers[number],
                "output": read(f"{scratch}/{number}.output"),
                "errors": read(f"{scratch}/{number}.errors"),
                "events": [json.loads(line) for line in read(f"{scratch}/{number}.events").splitlines()],
            }
            for number in range(len(questions))
        ]


def collect(running, answers):
    child, status = os.wait()
    answers[running.pop(child)] = os.waitstatus_to_exitcode(status)


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


load_plugins()
json.dump(ask_all(json.load(sys.stdin)), sys.stdout)
