"""Templates each line of JSON on stdin with ansible-core's own Templar and prints what came out as JSON.

With `file` the text is rendered as the template module renders a file."""
import json
import os
import sys

from ansible.parsing.dataloader import DataLoader
from ansible.template import AnsibleEnvironment, Templar
from ansible.utils.display import Display

Display.warning = lambda *args, **kwargs: None
Display.deprecated = lambda *args, **kwargs: None
Display.display = lambda *args, **kwargs: None


def tagged(value):
    if isinstance(value, dict):
        return {'dict': [[tagged(key), tagged(item)] for key, item in value.items()]}
    if isinstance(value, tuple):
        return {'tuple': [tagged(item) for item in value]}
    if isinstance(value, list):
        return [tagged(item) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return {'int': str(value)}
    if isinstance(value, float):
        return {'float': repr(value)}
    if isinstance(value, str):
        return str(value)
    return {'other': type(value).__name__}


def rendered(templar, case):
    if not case.get('file'):
        return templar.template(case['template'])
    templar = templar.copy_with_new_env(
        environment_class=AnsibleEnvironment, newline_sequence='\n', trim_blocks=True, lstrip_blocks=False)
    return templar.do_template(case['template'], preserve_trailing_newlines=True, escape_backslashes=False)


loader = DataLoader()
for line in sys.stdin:
    case = json.loads(line)
    templar = Templar(loader=loader, variables=case['vars'])
    try:
        answer = {'value': tagged(rendered(templar, case))}
    except Exception as error:
        undefined = type(error).__name__ == 'AnsibleUndefinedVariable'
        answer = {'error': 'undefined' if undefined else 'error', 'says': str(error)[:300]}
    print(json.dumps(answer))
