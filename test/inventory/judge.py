"""Answers, with the installed ansible-core, what the tests of src/inventory ask: JSON in, JSON out."""
import ast
import json
import shlex
import sys

from ansible.inventory.helpers import sort_groups
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.parsing.splitter import parse_kv
from ansible.plugins.inventory.ini import InventoryModule
from ansible.vars.manager import VariableManager


def plain(value):
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (bytes, complex, set)) or value is ...:
        return {"unreadable": type(value).__name__}
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return str(value)
    return value


def literals(texts):
    answers = []
    for text in texts:
        try:
            answers.append(["value", plain(InventoryModule._parse_value(text))])
        except Exception as error:
            answers.append(["error", type(error).__name__])
    return answers


def words(texts):
    answers = []
    for text in texts:
        try:
            answers.append(shlex.split(text, comments=True))
        except ValueError:
            answers.append(None)
    return answers


def assignments(texts):
    answers = []
    for text in texts:
        try:
            answers.append(parse_kv(text))
        except Exception as error:
            answers.append("unbalanced" if "unbalanced" in str(error) else None)
    return answers


def inventories(cases):
    answers = []
    for case in cases:
        loader = DataLoader()
        manager = InventoryManager(loader=loader, sources=case["sources"], parse=False)
        read = [manager.parse_source(source) for source in case["sources"]]
        if not all(read):
            answers.append({"read": read})
            continue
        manager.reconcile_inventory()
        variables = VariableManager(loader=loader, inventory=manager)
        hosts = {}
        for name, host in manager.hosts.items():
            seen = variables.get_vars(host=host, include_hostvars=False)
            hosts[name] = {
                "groups": [group.name for group in sort_groups(host.get_groups())],
                "vars": {key: plain(seen[key]) for key in seen if key.startswith("v_") or key == "ansible_port"},
            }
        groups = {
            name: {
                "children": [child.name for child in group.child_groups],
                "hosts": [host.name for host in group.hosts],
                "members": [host.name for host in group.get_hosts()],
                "depth": group.depth,
                "priority": group.priority,
            }
            for name, group in manager.groups.items()
        }
        matched = {}
        for pattern in case.get("patterns", []):
            try:
                matched[pattern] = [host.name for host in manager.get_hosts(pattern)]
            except Exception:
                matched[pattern] = None
        answers.append({"read": read, "order": list(manager.hosts), "hosts": hosts, "groups": groups, "matched": matched})
    return answers


question = json.load(sys.stdin)
ask = {"literals": literals, "words": words, "assignments": assignments, "inventories": inventories}
json.dump({kind: ask[kind](cases) for kind, cases in question.items()}, sys.stdout)
