#!/bin/sh
# Puts REPORT (a Markdown file) into one comment of the pull request NUMBER of REPOSITORY: the comment by COMMENT_AUTHOR that
# begins with this program's mark is rewritten, else there is a new one. Without REPORT only a comment that is there is
# rewritten, to say that there is nothing to tell any more. COMMENT_ID tells several audits of one pull request apart.
# Needs `gh` and a token in GH_TOKEN that may write; where it may not (a fork's pull request), that is a warning.
set -eu

id=${COMMENT_ID:-audit}
case $id in
*[!A-Za-z0-9._-]*)
  echo "::error::comment-id: $id: expected letters, digits, dots, - and _" >&2
  exit 2
  ;;
esac
case ${NUMBER:-} in
'' | *[!0-9]*)
  echo '::warning::no pull request, no comment' >&2
  exit 0
  ;;
esac
command -v gh >/dev/null || {
  echo '::warning::the comment needs gh, which is not there' >&2
  exit 0
}
mark="<!-- whofixes: $id -->"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

refused() {
  echo "::warning::the comment was not written: $(tr '\n' ' ' <"$work/refused")" >&2
  exit 0
}

# The first comment with the mark, and of its author: anybody may write the mark, and a token may change others' comments.
page=1
found=
while [ -z "$found" ]; do
  gh api "repos/$REPOSITORY/issues/$NUMBER/comments?per_page=100&page=$page" >"$work/page" 2>"$work/refused" || refused
  said=$(MARK=$mark node -e '
    const comments = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"))
    const { MARK = "", COMMENT_AUTHOR = "github-actions[bot]" } = process.env
    const own = comments.find(({ body, user }) => user?.login === COMMENT_AUTHOR && body?.startsWith(MARK))
    console.log(comments.length + " " + (own?.id ?? ""))
  ' "$work/page")
  found=${said#* }
  [ "${said%% *}" -ge 100 ] || break
  page=$((page + 1))
done

{
  printf '%s\n' "$mark"
  if [ -n "${REPORT:-}" ]; then cat "$REPORT"; else echo 'The pinned kubespray does not change here any more.'; fi
} >"$work/body"
if [ -n "$found" ]; then
  gh api --silent --method PATCH "repos/$REPOSITORY/issues/comments/$found" --field "body=@$work/body" 2>"$work/refused" || refused
elif [ -n "${REPORT:-}" ]; then
  gh api --silent --method POST "repos/$REPOSITORY/issues/$NUMBER/comments" --field "body=@$work/body" 2>"$work/refused" || refused
fi
