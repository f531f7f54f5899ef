"""Reads a JSON list of YAML texts from stdin, prints what Ansible's own loader makes of each, as a JSON list."""
import datetime
import json
import sys

from ansible import constants
from ansible.parsing.utils.yaml import from_yaml
from ansible.parsing.yaml.objects import AnsibleVaultEncryptedUnicode
from ansible.utils.unsafe_proxy import AnsibleUnsafe

constants.DUPLICATE_YAML_DICT_KEY = 'ignore'


def plain(value):
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, AnsibleVaultEncryptedUnicode):
        return {'vault': value._ciphertext.decode()}
    if isinstance(value, int):
        return {'int': str(value)}
    if isinstance(value, float):
        return {'float': repr(value)}
    if isinstance(value, str):
        return {'unsafe': str(value)} if isinstance(value, AnsibleUnsafe) else str(value)
    if isinstance(value, (datetime.date, datetime.datetime)):
        return {'date': True}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {'map': [[plain(key), plain(item)] for key, item in value.items()]}
    raise TypeError(type(value).__name__)


def read(text):
    try:
        return {'value': plain(from_yaml(text))}
    except Exception as error:
        return {'error': type(error).__name__}


json.dump([read(text) for text in json.load(sys.stdin)], sys.stdout)
