#!/bin/sh
# Audits the step from OLD to NEW and writes a report a format into REPORTS. Prints lines NAME=VALUE:
#   required=N  advised=N  report=FILE (Markdown)  json=FILE  status=0|1 (1: something is required, or advised with FAIL_ON)
# INVENTORY and EXTRA_VARS hold one a line; PLAYBOOK, ALSO, FAIL_ON (required, advised or never) and FORMATS (of json, markdown,
# text, sarif, gitlab, junit) are one line. A release needs a clone for everything but verdicts and variables: unless FETCH is
# false it is made or updated, from FETCH_FROM where that is given.
set -eu

if [ -z "${OLD:-}" ] || [ -z "${NEW:-}" ]; then
  echo 'audit: OLD and NEW are needed' >&2
  exit 2
fi
reports=${REPORTS:-whofixes-reports}
mkdir -p "$reports"

fetch=${FETCH:-true}
for version in "$OLD" "$NEW"; do
  case $fetch:$version in
  true:v[0-9]*.[0-9]*.[0-9]*)
    whofixes fetch ${FETCH_FROM:+--from "$FETCH_FROM"} >&2
    fetch=already
    ;;
  esac
done

set --
while IFS= read -r line; do
  [ -z "$line" ] || set -- "$@" --inventory "$line"
done <<END
${INVENTORY:-}
END
while IFS= read -r line; do
  [ -z "$line" ] || set -- "$@" --extra-vars "$line"
done <<END
${EXTRA_VARS:-}
END
[ -z "${PLAYBOOK:-}" ] || set -- "$@" --playbook "$PLAYBOOK"
[ -z "${ALSO:-}" ] || set -- "$@" --also "$ALSO"
fail_on=${FAIL_ON:-required}
[ "$fail_on" = never ] || set -- "$@" --fail-on "$fail_on"

json=$reports/whofixes-audit.json
told=
for format in ${FORMATS:-markdown}; do
  case " $told " in *" $format "*) continue ;; esac
  told="$told $format"
  case $format in
  json) continue ;;
  markdown) file=$reports/whofixes-audit.md ;;
  text) file=$reports/whofixes-audit.txt ;;
  sarif) file=$reports/whofixes-audit.sarif ;;
  gitlab) file=$reports/gl-code-quality-report.json ;;
  junit) file=$reports/whofixes-junit.xml ;;
  *)
    echo "audit: FORMATS: no format $format" >&2
    exit 2
    ;;
  esac
  set -- "$@" --report "$format=$file"
done
status=0
whofixes audit "$OLD" "$NEW" "$@" --format json --output "$json" || status=$?
[ "$status" -le 1 ] || exit "$status"
[ "$fail_on" != never ] || status=0

node -e '
  const { summary } = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"))
  console.log("required=" + summary.required + "\nadvised=" + summary.advised)
' "$json"
printf 'report=%s\njson=%s\nstatus=%s\n' "$reports/whofixes-audit.md" "$json" "$status"
