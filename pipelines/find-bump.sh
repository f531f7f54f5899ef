#!/bin/sh
# Which two versions of kubespray a change lies between. Prints lines NAME=VALUE:
#   changed=true|false   old=SOURCE   new=SOURCE
# Run at the top of the repository that pins kubespray. What it looks at, the first that there is:
#   OLD and NEW           both given: these
#   SUBMODULE             a submodule; by default the one whose path or address says kubespray
#   VERSION_FILE          a file with a version (v2.31.0) at a line that VERSION_PATTERN matches, or up to three lines below it
#                         in the same list item; by default KUBESPRAY_VERSION, .kubespray-version, requirements.yml and
#                         collections/requirements.yml
# BASE is the commit before the change (default: the parent of HEAD). Ends with 2 where nothing pins kubespray.
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
  if [ "$1" = "$2" ]; then echo changed=false; else echo changed=true; fi
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

in_modules() { git config --blob HEAD:.gitmodules "$@" 2>/dev/null; }

# The submodules that look like kubespray, a path a line.
likely_submodules() {
  in_modules --name-only --get-regexp '^submodule\..*\.path$' | while IFS= read -r key; do
    path=$(in_modules --get "$key")
    address=$(in_modules --get "${key%.path}.url" || true)
    case $path:$address in *[Kk][Uu][Bb][Ee][Ss][Pp][Rr][Aa][Yy]*) printf '%s\n' "$path" ;; esac
  done
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
  submodule=$(likely_submodules)
  case $submodule in
  *'
'*) fail "several submodules look like kubespray, name one with SUBMODULE: $(echo "$submodule" | tr '\n' ' ')" ;;
  esac
fi
if [ -n "$submodule" ]; then
  new=$(pinned HEAD "$submodule")
  [ -n "$new" ] || fail "$submodule: no submodule is there in HEAD"
  old=$(pinned "$base" "$submodule")
  if [ -z "$old" ]; then
    echo "find-bump: $submodule is new in this change, there is nothing to compare it with" >&2
    old=$new
  fi
  [ "$old" != "$new" ] || answer "$submodule@$new" "$submodule@$new"
  if [ ! -e "$submodule/.git" ]; then
    git submodule --quiet update --init --depth 1 -- "$submodule" >&2 || fail "$submodule: cannot be checked out"
  fi
  old=$(readable "$submodule" "$old")
  new=$(readable "$submodule" "$new")
  answer "$submodule@$old" "$submodule@$new"
fi

# The first version at a line that matches, or below it before the next list item begins.
version_in() {
  git show "$1:$2" 2>/dev/null | PATTERN=$3 awk '
    $0 ~ ENVIRON["PATTERN"] { left = 4; here = 1 }
    left > 0 {
      if (!here && $0 ~ /^[ \t]*- /) left = 0
      else if (match($0, /v?[0-9]+\.[0-9]+\.[0-9]+/)) { print substr($0, RSTART, RLENGTH); exit }
      left--
    }
    { here = 0 }
  ' | sed 's/^v*/v/'
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
  [ -n "$new" ] || continue
  old=$(version_in "$base" "$file" "$pattern")
  if [ -z "$old" ]; then
    echo "find-bump: $file names no version before this change, there is nothing to compare $new with" >&2
    old=$new
  fi
  answer "$old" "$new"
done

fail "nothing here pins kubespray: no submodule of that name; no version (v2.31.0) in $*; give OLD and NEW, SUBMODULE, or VERSION_FILE and VERSION_PATTERN"
