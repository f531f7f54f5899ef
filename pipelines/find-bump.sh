#!/bin/sh
# Which two versions of kubespray a change lies between. Prints lines NAME=VALUE:
#   changed=true|false   old=SOURCE (empty where nothing pinned it before)   new=SOURCE
# Run at the top of the repository that pins kubespray. What it looks at, the first that there is:
#   OLD and NEW           both given: these
#   SUBMODULE             a submodule; by default the one whose path or address says kubespray
#   VERSION_FILE          a file with a version (v2.31.0) at a line that VERSION_PATTERN matches, or up to three lines below it
#                         in the same list item; by default KUBESPRAY_VERSION, .kubespray-version, requirements.yml and
#                         collections/requirements.yml
# BASE is the commit before the change (default: the parent of HEAD). Ends with 2 where nothing pins kubespray, or where it is not
# to be told which version was pinned before.
set -eu

fail() {
  printf 'find-bump: %s\n' "$1" >&2
  exit 2
}

answer() {
  # Lines of an answer must stay lines, whatever a path is called.
  case $1$2 in
  *'
'*) fail 'a path with a line break in it cannot be passed on' ;;
  esac
  if [ "$1" = "$2" ] || [ -z "$1" ]; then echo changed=false; else echo changed=true; fi
  printf 'old=%s\nnew=%s\n' "$1" "$2"
  exit 0
}

if [ -n "${OLD:-}" ] && [ -n "${NEW:-}" ]; then answer "$OLD" "$NEW"; fi
if [ -n "${OLD:-}${NEW:-}" ]; then fail 'OLD and NEW belong together: give both, or none to have them found'; fi

git rev-parse --verify --quiet 'HEAD^{commit}' >/dev/null || fail "$(pwd): no git repository with a commit"

# A service gives zeros where there was no commit before.
base=${BASE:-}
case $base in '' | *[!0]*) ;; *) base= ;; esac
if [ -z "$base" ]; then
  base=$(git rev-parse --verify --quiet 'HEAD^1^{commit}') ||
    fail 'HEAD has no parent here: check out more than one commit (fetch-depth: 0), or set BASE'
fi
case $base in -*) fail "BASE: $base is no commit" ;; esac
if ! git cat-file -e "$base^{commit}" 2>/dev/null; then
  git fetch --quiet --depth 1 origin "$base" 2>/dev/null || true
  git cat-file -e "$base^{commit}" 2>/dev/null ||
    fail "BASE: $base is not in this checkout and could not be fetched: check out more commits (fetch-depth: 0)"
fi

# Ends with the new version alone where kubespray is new in this change. A repository that speaks of it before may have pinned it
# in another way, and what that was is not known.
come() {
  if git grep --quiet --ignore-case kubespray "$base" -- ||
    git ls-tree -r --name-only "$base" | grep -qi kubespray; then
    fail "$1 pins no version in $base, but kubespray is there already: which version it was is not known, give OLD and NEW"
  fi
  echo "find-bump: $1 is new in this change, there is nothing to compare it with" >&2
  answer '' "$2"
}

in_modules() {
  revision=$1
  shift
  git config --blob "$revision:.gitmodules" "$@" 2>/dev/null
}

# The submodules of a revision, a line each: name, path and address, with tabs between.
submodules() {
  in_modules "$1" --name-only --get-regexp '^submodule\..*\.path$' | while IFS= read -r key; do
    name=${key#submodule.}
    address=$(in_modules "$1" --get "${key%.path}.url" || true)
    address=${address%/}
    printf '%s\t%s\t%s\n' "${name%.path}" "$(in_modules "$1" --get "$key")" "${address%.git}"
  done
}

# The paths of submodules in which a field (1: name, 2: path, 3: address) is a text.
submodules_with() { submodules "$1" | FIELD=$2 TEXT=$3 awk -F '\t' '$ENVIRON["FIELD"] == ENVIRON["TEXT"] { print $2 }'; }

# The paths of submodules that look like kubespray.
likely_submodules() { submodules "$1" | awk -F '\t' 'tolower($2 ":" $3) ~ /kubespray/ { print $2 }'; }

# Where in the revision before the submodule was that stands at a path now: by its name, its path, its address, or as the only one
# that looks like kubespray.
path_before() {
  for field in 1 2 3; do
    text=$(submodules HEAD | SUBMODULE_PATH=$1 FIELD=$field awk -F '\t' '$2 == ENVIRON["SUBMODULE_PATH"] { print $ENVIRON["FIELD"] }')
    [ -n "$text" ] || continue
    found=$(submodules_with "$base" "$field" "$text" | sed -n 1p)
    if [ -n "$found" ] && [ -n "$(pinned "$base" "$found")" ]; then
      printf '%s\n' "$found"
      return
    fi
  done
  if [ -n "$(pinned "$base" "$1")" ]; then printf '%s\n' "$1"; else likely_submodules "$base"; fi
}

# The commit a revision pins a submodule to; nothing where it does not.
pinned() { git ls-tree "$1" -- "$2" | sed -n 's/^160000 commit \([0-9a-f]*\)	.*/\1/p'; }

# Makes a commit of the submodule readable, and says its name: the release where its tag can be had, else the commit.
readable() {
  if ! git -C "$1" cat-file -e "$2^{commit}" 2>/dev/null; then
    git -C "$1" fetch --quiet --depth 1 origin "$2" 2>/dev/null || git -C "$1" fetch --quiet origin 2>/dev/null || true
    git -C "$1" cat-file -e "$2^{commit}" 2>/dev/null || fail "$1: commit $2 is not there and could not be fetched"
  fi
  tag=$(release_tags "$1" "$2")
  if [ -z "$tag" ]; then
    # A shallow checkout has no tags; a release reads better than a commit, but is not needed.
    tag=$(git -C "$1" ls-remote --tags origin 2>/dev/null |
      sed -n "s|^$2	refs/tags/\(v[0-9.]*\)\(^{}\)*\$|\1|p" | sed -n 1p)
    if [ -n "$tag" ]; then git -C "$1" fetch --quiet --depth 1 origin "refs/tags/$tag:refs/tags/$tag" 2>/dev/null || true; fi
    tag=$(release_tags "$1" "$2")
  fi
  printf '%s\n' "${tag:-$2}"
}

release_tags() { git -C "$1" tag --points-at "$2" 2>/dev/null | sed -n '/^v[0-9]*\.[0-9]*\.[0-9]*$/{p;q;}'; }

submodule=${SUBMODULE:-}
if [ -z "$submodule" ]; then
  submodule=$(likely_submodules HEAD)
  case $submodule in
  *'
'*) fail "several submodules look like kubespray, name one with SUBMODULE: $(echo "$submodule" | tr '\n' ' ')" ;;
  esac
fi
if [ -n "$submodule" ]; then
  new=$(pinned HEAD "$submodule")
  [ -n "$new" ] || fail "$submodule: no submodule is there in HEAD"
  before=$(path_before "$submodule")
  case $before in
  *'
'*) fail "which submodule of $base was $submodule is not known, give OLD and NEW: $(echo "$before" | tr '\n' ' ')" ;;
  esac
  old=
  if [ -n "$before" ]; then old=$(pinned "$base" "$before"); fi
  [ -n "$old" ] || come "$submodule" "$submodule@$new"
  [ "$old" != "$new" ] || answer "$submodule@$new" "$submodule@$new"
  if [ ! -e "$submodule/.git" ]; then
    git submodule --quiet update --init --depth 1 -- "$submodule" >&2 || fail "$submodule: cannot be checked out"
  fi
  old=$(readable "$submodule" "$old")
  new=$(readable "$submodule" "$new")
  answer "$submodule@$old" "$submodule@$new"
fi

# What a file says of kubespray's version: a line `is VERSION`, `unclear TEXT` for one that is no release, `open` for a file with a
# line that matches and no version, else nothing. The first version counts that stands at a line that matches, or below it in the
# same list item or section. Comments hold no version, but may be what matches.
version_in() {
  git show "$1:$2" 2>/dev/null | PATTERN=$3 awk '
    function say(what, text) { said = 1; print what " " text; exit }
    function indent(text) { match(text, /^[ \t]*/); return RLENGTH }
    BEGIN { item = -1 }
    { sub(/\r$/, "") }
    {
      comment = $0 ~ /^[ \t]*#/
      here = $0 ~ ENVIRON["PATTERN"]
      begins = $0 ~ /^[ \t]*- /
      if (!comment && $0 ~ /[^ \t]/) {
        if (begins) item = indent($0)
        else if (indent($0) <= item) { item = -1; if (!here) left = 0 }
      }
      if (here) {
        left = 4; edge = indent($0); head = comment || $0 ~ /^[ \t]*\[/
        if (!comment) seen = 1
      } else if (begins && !head) left = 0
      left--
      if (left < 0 || comment) next
      # Beside what matches may stand the versions of other things.
      key = $0
      sub(/^[ \t]*(- )?[ \t]*/, "", key)
      if (!here && !head && item < 0 && indent($0) <= edge && key !~ /^"?(version|ref|tag|revision|rev)"?[ \t]*[:=]/) next

      count = split($0, tokens, /[^A-Za-z0-9._+~-]+/)
      value = $0
      named = sub(/^.*[Vv][Ee][Rr][Ss][Ii][Oo][Nn]["\047]?[ \t]*[:=][ \t]*/, "", value) && value ~ /^[^ \t#]/
      if (named && value ~ /^["\047]?[<>!~^*]/) say("unclear", value)
      for (at = 1; at <= count; at++) {
        token = tokens[at]
        sub(/\.+$/, "", token)
        sub(/^kubespray-/, "", token)
        sub(/\.(tar\.gz|tgz|zip)$/, "", token)
        if (token ~ /^v?[0-9]+\.[0-9]+\.[0-9]+$/) { sub(/^v/, "", token); say("is", "v" token) }
        if (token ~ /^v?[0-9]+\.[0-9]+\.[0-9]+[^0-9]/ && token !~ /^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+$/) say("unclear", token)
      }
      if (named) say("unclear", value)
    }
    END { if (seen && !said) print "open" }
  ' || true
}

if [ -n "${VERSION_FILE:-}" ]; then
  set -- "$VERSION_FILE"
else
  set -- KUBESPRAY_VERSION .kubespray-version requirements.yml collections/requirements.yml
fi
for file in "$@"; do
  case $file in
  *KUBESPRAY_VERSION | *.kubespray-version) pattern=${VERSION_PATTERN:-.} ;;
  *) pattern=${VERSION_PATTERN:-[Kk][Uu][Bb][Ee][Ss][Pp][Rr][Aa][Yy]} ;;
  esac
  new=$(version_in HEAD "$file" "$pattern")
  case $new in
  'is '*) ;;
  'unclear '*) fail "$file: its version of kubespray is ${new#unclear }, expected a release (v2.31.0): give OLD and NEW" ;;
  *) continue ;;
  esac
  old=$(version_in "$base" "$file" "$pattern")
  case $old in
  'is '*) ;;
  '') come "$file" "${new#is }" ;;
  *)
    case $old in open) old='not named' ;; esac
    fail "$file: its version of kubespray before this change is ${old#unclear }, expected a release (v2.31.0): give OLD and NEW"
    ;;
  esac
  answer "${old#is }" "${new#is }"
done

fail "nothing here pins kubespray: no submodule of that name; no version (v2.31.0) in $*; give OLD and NEW, SUBMODULE, or VERSION_FILE and VERSION_PATTERN"
