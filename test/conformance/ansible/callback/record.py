"""Writes down what becomes of each task on each host, a JSON line each, and prints nothing.

{"host", "place": "roles/a/tasks/main.yml:3", "name", "action", "outcome": "ran" | "skipped" | "failed", "msg", "items"}
`items` is there for a loop that ran: [{"item", "outcome", "msg"}]. A dynamic include is one event for all its items.
"""

import json
import os

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
    name: record
    type: stdout
    short_description: outcomes as JSON lines
    description: outcomes as JSON lines
"""


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "record"

    def __init__(self):
        super().__init__()
        self._tree = os.environ["WHOFIXES_TREE"] + "/"
        self._file = open(os.environ["WHOFIXES_EVENTS"], "a", encoding="utf-8")

    def v2_runner_on_ok(self, result):
        self._write_result(result, "ran")

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self._write_result(result, "failed")

    def v2_runner_on_skipped(self, result):
        self._write_result(result, "skipped")

    def v2_playbook_on_include(self, included_file):
        for host in included_file._hosts:
            self._write(host, included_file._task, {"outcome": "ran"})

    def _write_result(self, result, outcome):
        event = {"outcome": outcome, "msg": result._result.get("msg")}
        if outcome != "skipped" and "results" in result._result and result._task.loop is not None:
            event["items"] = [
                {"item": one.get(one.get("ansible_loop_var", "item")), "outcome": outcome_of(one), "msg": one.get("msg")}
                for one in result._result["results"]
            ]
        self._write(result._host, result._task, event)

    def _write(self, host, task, event):
        event.update(host=host.get_name(), place=task.get_path(), name=task.name or task.action, action=task.action)
        # Paths are told from the top of the tree, wherever it lies.
        self._file.write(json.dumps(event).replace(self._tree, "") + "\n")
        self._file.flush()


def outcome_of(result):
    if result.get("skipped"):
        return "skipped"
    return "failed" if result.get("failed") else "ran"
