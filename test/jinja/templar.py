"""Templates each line of JSON on stdin with ansible-core's own Templar and prints what came out as JSON."""
import json
import sys

from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible.utils.display import Display

Display.warning = lambda *args, **kwargs: None
Display.deprecated = lambda *args, **kwargs: None


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


loader = DataLoader()
for line in sys.stdin:
    case = json.loads(line)
    templar = Templar(loader=loader, variables=case['vars'])
    try:
        answer = {'value': tagged(templar.template(case['template']))}
    except Exception as error:
        undefined = type(error).__name__ == 'AnsibleUndefinedVariable'
        answer = {'error': 'undefined' if undefined else 'error', 'says': str(error)}
    print(json.dumps(answer))
