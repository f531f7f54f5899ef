"""Runs Ansible modules on temporary files and says what they left.

stdin: [{"module": "ansible.posix.mount", "arguments": {...}, "files": {"fstab": "text" | null}}, ...], `@` in a text of the
arguments being the temporary directory. stdout: [{"files": {"fstab": "text"}, "changed": bool, "failed": "message" | null}, ...]
"""

import contextlib
import importlib
import io
import json
import os
import shutil
import sys
import tempfile

from ansible.module_utils import basic

PACKAGES = {
    "ansible.posix": "ansible_collections.ansible.posix.plugins.modules",
    "community.general": "ansible_collections.community.general.plugins.modules",
    "ansible.builtin": "ansible.modules",
}


def load(name):
    collection, _, module = name.rpartition(".")
    return importlib.import_module("%s.%s" % (PACKAGES[collection], module))


def texts(directory):
    found = {}
    for root, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(root, name)
            key = os.path.relpath(path, directory)
            if os.path.islink(path):
                found[key] = {"link": os.readlink(path)}
            else:
                with open(path, encoding="utf-8", newline="") as file:
                    found[key] = file.read()
    return found


def answer(question):
    directory = tempfile.mkdtemp()
    here = os.getcwd()
    try:
        for name, text in question["files"].items():
            path = os.path.join(directory, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if text is None:
                os.makedirs(path, exist_ok=True)
            elif isinstance(text, dict):
                os.symlink(text["link"], path)
            else:
                with open(path, "w", encoding="utf-8", newline="") as file:
                    file.write(text)
        # The module also unmounts and removes a directory of the name, which is relative for `swap` and `none`.
        empty = os.path.join(directory, ".empty")
        os.mkdir(empty)
        os.chdir(empty)
        module = load(question["module"])
        if hasattr(module, "MODULES_LOAD_LOCATION"):
            module.MODULES_LOAD_LOCATION = os.path.join(directory, "modules-load.d")
            module.PARAMETERS_FILES_LOCATION = os.path.join(directory, "modprobe.d")
            # Nothing is loaded here: only the files are looked at.
            module.Modprobe.module_loaded = lambda self: self.desired_state == "present"
        arguments = {
            name: value.replace("@", directory) if isinstance(value, str) else value
            for name, value in question["arguments"].items()
        }
        arguments["_ansible_remote_tmp"] = directory + "-tmp"
        basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": arguments}).encode()
        output = io.StringIO()
        try:
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
                module.main()
        except SystemExit:
            pass
        said = json.loads(output.getvalue())
        os.rmdir(empty)
        failed = said.get("msg", "failed") if said.get("failed") else None
        return {"files": texts(directory), "changed": bool(said.get("changed")), "failed": failed}
    finally:
        os.chdir(here)
        shutil.rmtree(directory, ignore_errors=True)
        shutil.rmtree(directory + "-tmp", ignore_errors=True)


if sys.argv[1:] == ["--versions"]:
    found = {}
    for name, package in PACKAGES.items():
        try:
            path = importlib.import_module(package).__path__[0]
            manifest = os.path.join(path, "..", "..", "MANIFEST.json")
            found[name] = "builtin"
            if name != "ansible.builtin":
                with open(manifest) as file:
                    found[name] = json.load(file)["collection_info"]["version"]
        except (ImportError, OSError, IndexError):
            found[name] = None
    json.dump(found, sys.stdout)
else:
    json.dump([answer(question) for question in json.load(sys.stdin)], sys.stdout)
