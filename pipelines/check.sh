#!/bin/sh
# Audits the change of the pinned kubespray between BASE and HEAD, prints what it says, and ends with 1 where that asks for
# something, 2 where it could not be told. For any pipeline; settings as in find-bump.sh and audit.sh beside it.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

value() { printf '%s\n' "$said" | sed -n "s/^$1=//p"; }

said=$("$here/find-bump.sh")
if [ "$(value changed)" != true ]; then
  if [ -n "$(value old)" ]; then
    echo 'The pinned kubespray does not change here.'
  else
    echo "Kubespray comes with this change ($(value new)): there is nothing to compare it with."
  fi
  exit 0
fi
OLD=$(value old)
NEW=$(value new)
export OLD NEW
FORMATS="${FORMATS:-} text"
export FORMATS
said=$("$here/audit.sh")
cat "${REPORTS:-whofixes-reports}/whofixes-audit.txt"
exit "$(value status)"
