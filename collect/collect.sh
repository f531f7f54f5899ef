#!/bin/sh
# Prints, as a tar, what whofixes needs to know of this host. It reads and changes nothing: no temporary file, no setting.
# Needs a POSIX shell, find, ls, awk and tr. As root it sees all; as another user it says in evidence.json what it could not read.
#
#   ssh node1 sudo sh -s < collect.sh > node1.tar     another host
#   sudo sh collect.sh > here.tar                     this one
#   sudo ROOT=/mnt sh collect.sh > image.tar          a file system that is mounted at /mnt
#
# How: the shell names paths, `find … -exec ls -lnd` prints what stands there, and one awk makes a member of the tar of each
# line of ls; a line that begins with @ says something about a path. Contents are read by awk, and what looks like a secret is
# put out of them. At the end stands evidence.json: what was captured, so that what is not here is known not to exist.

say() { # say KIND PATH…: a pattern that matched nothing is no path
  kind=$1
  shift
  for path do case $path in *'*'*) ;; *) printf '@%s /%s\n' "$kind" "$path" ;; esac done
}

# Paths and all that lies under them. A name that ls cannot print in one line is left out, and its directory is called unreadable.
captured() {
  say captured "$@"
  find "$@" \( -name '*[[:cntrl:]]*' -o -name '* -> *' \) -prune -exec dirname {} \; 2>/dev/null | sed 's|^|@unreadable /|'
  find "$@" -name '*[[:cntrl:]]*' -prune -o -type d -print 2>/dev/null | while IFS= read -r dir; do
    if [ ! -r "$dir" ] || [ ! -x "$dir" ]; then say unreadable "$dir"; fi
  done
  find "$@" \( -name '*[[:cntrl:]]*' -o -name '* -> *' \) -prune -o -exec ls -lnd {} + 2>/dev/null
  # shellcheck disable=SC2046 # a list without blanks: the directories above
  asked $(printf '%s\n' "$@" | awk '{ while (sub(/\/[^\/]*$/, "")) if (!seen[$0]++) print }')
}

asked() { # whether they are there, and what they are
  say asked "$@"
  ls -lnd "$@" 2>/dev/null
}

output() { # what a command prints that only looks; its status is the last line
  command -v "$1" >/dev/null 2>&1 || return 0
  printf '@run'
  printf '\t%s' "$@"
  { echo; "$@" 2>/dev/null; printf '\n%s\n' "$?"; } | sed '2,$s/^/>/'
}

# Processes that listen: the descriptor, control group, name and program of each. Neither arguments nor environment.
listening() {
  want=$(awk '$4 == "0A" { printf "socket:[%s] ", $10 }' proc/net/tcp proc/net/tcp6 2>/dev/null)
  held=$(find proc/[0-9]*/fd -type l -exec ls -lnd {} + 2>/dev/null |
    awk -v want="$want" 'BEGIN { n = split(want, w, " "); for (i = 1; i <= n; i++) is[w[i]] = 1 } $NF in is')
  printf '%s\n' "$held"
  say listed proc
  for pid in $(printf '%s\n' "$held" | awk 'BEGIN { print seen[1] = 1 } NF > 2 { split($(NF - 2), p, "/"); if (!seen[p[2]]++) print p[2] }'); do
    say listed "proc/$pid/fd"
    asked "proc/$pid" "proc/$pid/fd" "proc/$pid/comm" "proc/$pid/cgroup" "proc/$pid/stat" "proc/$pid/exe" "proc/$pid/ns/net"
  done
  for dir in proc/[0-9]*; do
    if [ ! -d "$dir/fd" ] || [ -r "$dir/fd" ]; then continue; fi
    say unreadable "$dir/fd"
    ls -lnd "$dir" "$dir/comm" "$dir/cgroup" 2>/dev/null
  done
}

interfaces() { # in the directories of the devices, where the links in /sys/class/net lead
  top=$(pwd -P)
  say listed sys/class/net
  ls -lnd sys/class/net/* 2>/dev/null
  for link in sys/class/net/*; do
    dir=$(cd -P "$link" 2>/dev/null && pwd -P) || continue
    dir=${dir#"${top%/}"/}
    captured "$dir/address" "$dir/mtu" "$dir/operstate" "$dir/type" "$dir/flags"
    asked "$dir/bridge" "$dir/bonding" "$dir/device"
  done
}

list() {
  libs='usr/lib usr/local/lib'
  [ -h lib ] || libs="$libs lib"
  ls -lnd bin sbin lib lib64 2>/dev/null
  release=$(cat proc/sys/kernel/osrelease 2>/dev/null || uname -r)
  set -- etc/fstab etc/sysctl.conf etc/modules etc/rc.local etc/default/zramswap etc/default/grub etc/ufw/sysctl.conf etc/waagent.conf \
    etc/dphys-swapfile etc/systemd run/systemd/system run/systemd/generator run/systemd/generator.early run/systemd/generator.late \
    run/systemd/transient etc/selinux/config etc/os-release usr/lib/os-release etc/*-release etc/*_version etc/hostname etc/hosts \
    etc/resolv.conf proc/meminfo proc/swaps proc/modules proc/cmdline proc/cpuinfo proc/mounts proc/version proc/net/tcp proc/net/tcp6 \
    proc/net/route proc/net/ipv6_route proc/net/if_inet6 proc/net/fib_trie proc/sys/net/bridge proc/sys/net/ipv4/ip_forward \
    proc/sys/net/ipv4/ip_local_reserved_ports proc/sys/net/ipv4/conf/*/forwarding proc/sys/net/ipv4/conf/*/rp_filter \
    proc/sys/net/ipv6/conf/*/forwarding proc/sys/net/ipv6/conf/*/disable_ipv6 proc/sys/net/netfilter/nf_conntrack_max \
    proc/sys/kernel/panic proc/sys/kernel/panic_on_oops proc/sys/kernel/osrelease proc/sys/kernel/version proc/sys/kernel/arch \
    proc/sys/kernel/hostname proc/sys/kernel/pid_max proc/xen sys/hypervisor/type etc/coreos/update.conf etc/products.d/baseproduct \
    proc/sys/kernel/keys proc/sys/vm/overcommit_memory proc/sys/vm/panic_on_oom proc/sys/vm/swappiness proc/sys/vm/max_map_count \
    proc/sys/fs/inotify proc/sys/fs/file-max proc/sys/fs/may_detach_mounts proc/sys/crypto/fips_enabled \
    proc/sys/user/max_user_namespaces sys/fs/selinux/enforce sys/fs/selinux/policyvers
  for dir in etc run $libs; do
    set -- "$@" "$dir/sysctl.d" "$dir/modules-load.d" "$dir/modprobe.d" "$dir/systemd/zram-generator.conf" "$dir/systemd/zram-generator.conf.d"
  done
  for dir in $libs; do set -- "$@" "$dir/systemd/system" "$dir/modules/$release/modules.dep" "$dir/modules/$release/modules.builtin"; done
  captured "$@"
  for dir in proc/sys/net/ipv4/conf proc/sys/net/ipv6/conf sys/module; do
    say listed "$dir"
    ls -lnd "$dir"/* 2>/dev/null
  done
  # Control groups: their directories say which units run. Version 2 has one tree, version 1 keeps units in the one of systemd.
  groups=sys/fs/cgroup/systemd
  [ ! -e sys/fs/cgroup/cgroup.controllers ] || groups=sys/fs/cgroup
  say captured "$groups"
  asked sys/fs sys/fs/cgroup sys/fs/cgroup/cgroup.controllers
  find "$groups" -type d -exec ls -lnd {} + 2>/dev/null
  listening
  interfaces

  echo @names # contents stay where they are from here on: that a file is there is all that is said
  say listed etc # which distribution it is, is also told by the release files of others that are not there
  ls -lnd etc/* etc/.[!.]* 2>/dev/null
  captured etc/kubernetes etc/ssl/etcd etc/cni/net.d etc/NetworkManager/conf.d etc/containerd etc/crio etc/docker \
    usr/lib/systemd/system-generators usr/local/lib/systemd/system-generators
  set -- boot opt opt/cni opt/cni/bin var var/lib var/lib/etcd var/lib/kubelet var/lib/containerd var/lib/docker var/lib/cni run/ostree-booted \
    run/containerd/containerd.sock run/crio/crio.sock run/docker.sock swapfile swap.img var/swap etc/apparmor etc/apparmor.d
  for dir in usr/bin usr/sbin usr/local/bin usr/local/sbin opt/bin; do
    set -- "$@" "$dir"
    for name in kubeadm kubelet kubectl containerd runc crun crictl nerdctl etcd etcdctl docker dockerd podman crio python3 swapon modprobe \
      systemctl apt apt-get dnf dnf5 yum zypper pacman apk rpm rpm-ostree transactional-update lsb_release; do set -- "$@" "$dir/$name"; done
  done
  asked "$@"

  [ -z "${ROOT:-}" ] || return 0
  output uname -a
  output ip -o addr
  output ip route
  output ip -4 route get 8.8.8.8
  output ip -6 route get 2404:6800:400a:800::1012
  output lsb_release -a
  output systemctl list-units --all --plain --no-legend
  output systemctl list-unit-files --no-legend
  # shellcheck disable=SC2016 # for dpkg-query, not for the shell
  output dpkg-query -W -f '${Package} ${Version} ${Architecture} ${db:Status-Abbrev}\n'
  output rpm -qa --qf '%{NAME} %{EPOCHNUM} %{VERSION} %{RELEASE} %{ARCH}\n'
}

# Makes the tar of those lines. NUL is written as \001, of which tr makes NUL: not every awk can print one.
pack() {
  awk '
  BEGIN {
    ORS = ""; NUL = "\001"; for (NULS = NUL; length(NULS) < 512;) NULS = NULS NULS
    for (i = 1; i < 256; i++) code[sprintf("%c", i)] = i
    word = "(token|passw|passphrase|secret|preshared|(api|private|access|encryption)[_-]?key)[a-z0-9_.-]*"
    secret = "(" word "[ \t]*=[ \t]*|--[a-z0-9-]*" word "[ \t]+)[\"\047]?"; login = "://[^/@ \t\"]*:[^/@ \t\"]*@"
  }
  function field(text, width) { return text substr(NULS, 1, width - length(text)) }
  function octal(number, width,    text) { text = sprintf("%0" width "o", number); return field(length(text) > width ? "" : text, width + 1) }
  function member(name, mode, uid, gid, type, target, content,    numbers, sum, i, c, said) {
    if (length(name) > 100) member("././@LongLink", 0, 0, 0, "L", "", name NUL)
    if (length(target) > 100) member("././@LongLink", 0, 0, 0, "K", "", target NUL)
    name = substr(name, 1, 100); target = substr(target, 1, 100); sum = 8 * 32
    numbers = octal(mode, 7) octal(uid, 7) octal(gid, 7) octal(length(content), 11) octal(0, 11)
    said = name numbers type target "ustar00"
    for (i = 1; i <= length(said); i++) if ((c = substr(said, i, 1)) != NUL) sum += code[c]
    print field(name, 100) numbers octal(sum, 6) " " type field(target, 100) "ustar" NUL "00" substr(NULS, 1, 247) content
    if (length(content) % 512) print substr(NULS, 1, 512 - length(content) % 512)
  }
  function quoted(text,    i, c, out) {
    for (i = 1; i <= length(text); i++) out = out ((c = substr(text, i, 1)) ~ /["\\]/ ? "\\" c : c < " " ? sprintf("\\u%04x", code[c]) : c)
    return "\"" out "\""
  }
  function note(kind, path) { if (!noted[kind, path]++) all[kind] = all[kind] (all[kind] ? "," : "") "\n    " quoted(path) }
  # The text of a file; why says why there is none: a NUL, a large file, a key.
  function content(path, size,    text, more, got, kernel) {
    why = names || size > 16777216 || path ~ /\.netdev$|\/credstore/ ? "withheld" : ""
    if (why) return ""
    RS = NUL; got = (getline text < path)
    if (got < 0) why = "unreadable"
    if (got > 0 && (getline more < path) > 0) why = "withheld"
    RS = "\n"; close(path); if (got < 1) text = ""
    kernel = path ~ /^(proc|sys)\//
    if (!why && (!kernel && length(text) != size || text ~ /-----BEGIN [A-Z ]*PRIVATE KEY/)) why = "withheld"
    return why ? "" : kernel && path != "proc/cmdline" ? text : masked(path, text)
  }
  function masked(path, text,    lines, n, i, out) {
    if (tolower(text) !~ secret "|" login "|(environment|setcredential[a-z]*)[ \t]*=") return text
    n = split(text, lines, "\n"); inside = 0
    for (i = 1; i <= n; i++) out = out (i > 1 ? "\n" : "") hidden(lines[i])
    if (out != text) note("masked", "/" path)
    return out
  }
  # A line without its secrets: what Environment= says of a name like these to the end of the line, elsewhere one word.
  function hidden(line,    low, out, end, variables) {
    low = tolower(line)
    if (low ~ /^[ \t]*setcredential/ && sub(/=.*/, "=withheld", line)) return line
    variables = inside || low ~ /^[ \t]*environment[ \t]*=/; inside = variables && line ~ /\\$/
    if (variables && match(low, /[a-z0-9_]*(key|token|pass|secret|cred|auth)[a-z0-9_]*=/)) return substr(line, 1, RSTART + RLENGTH - 1) "withheld"
    for (; match(low, secret); low = tolower(line)) {
      end = RSTART + RLENGTH; out = out substr(line, 1, end - 1); line = substr(line, end)
      if (match(line, /^[^ \t"\047,;]+/)) { out = out "withheld"; line = substr(line, RLENGTH + 1) }
    }
    for (line = out line; match(line, login);) line = substr(line, 1, RSTART + 2) "withheld@" substr(line, RSTART + RLENGTH)
    return line
  }
  function ended() { # a command: its last line is its status, and what it printed ends before the newline above
    if (command == "") return
    sub(/\n[0-9]+\n$/, "", printed); member("commands/" ++ran, 420, 0, 0, "0", "", printed)
    commands = commands (ran > 1 ? "," : "") "\n    {\"words\": [" command "], \"status\": " last ", \"stdout\": \"commands/" ran "\"}"
    command = printed = ""
  }
  /^>/ { last = substr($0, 2); printed = printed last "\n"; next }
  { ended() }
  /^@run/ { n = split($0, w, "\t"); for (i = 2; i <= n; i++) command = command (i > 2 ? ", " : "") quoted(w[i]); next }
  /^@names/ { names = 1; next }
  /^@/ { note(substr($1, 2), substr($0, length($1) + 2)); next }
  /^[-dlbcps]/ {
    mode = 0; type = substr($1, 1, 1); path = $0; target = text = ""
    for (i = 2; i <= 10; i++) mode = mode * 2 + (substr($1, i, 1) !~ /[-ST]/)
    mode += 2048 * (substr($1, 4, 1) ~ /[sS]/) + 1024 * (substr($1, 7, 1) ~ /[sS]/) + 512 * (substr($1, 10, 1) ~ /[tT]/)
    sub(/^[^ ]+ +[0-9]+ +[0-9]+ +[0-9]+ +([0-9]+, *)?[0-9]+ +[^ ]+ +[^ ]+ +[^ ]+ /, "", path)
    if (type == "l" && (at = index(path, " -> "))) { target = substr(path, at + 4); path = substr(path, 1, at - 1) }
    if (seen[path]++ || path == "proc/net") next # a link to that of this very process
    if (type == "l" && target == "") { note("unreadable", "/" path); next }
    if (type == "-") text = content(path, $5); else why = ""
    if (why == "unreadable" && path ~ /^proc\/[0-9]/) next # it is gone by now, so it was never there
    if (why) note(why, "/" path)
    member(path (type == "d" ? "/" : ""), mode, $3, $4, substr("0524366", index("-dlbcps", type), 1), target, text)
  }
  END {
    ended(); json = "{\n"; n = split("captured listed asked withheld unreadable masked", kinds, " ")
    for (i = 1; i <= n; i++) json = json "  \"" kinds[i] "\": [" all[kinds[i]] (all[kinds[i]] ? "\n  " : "") "],\n"
    member("evidence.json", 420, 0, 0, "0", "", json "  \"commands\": [" commands (ran ? "\n  " : "") "]\n}\n")
    print NULS NULS
  }'
}

# All of it is read before any of it runs: what is cut off on the way does nothing.
main() {
  [ ! -t 1 ] || { echo 'collect.sh prints a tar: send it to a file, as in: sh collect.sh > node1.tar' >&2; exit 2; }
  cd "${ROOT:-/}" || exit 2
  LC_ALL=C
  export LC_ALL
  unset TIME_STYLE QUOTING_STYLE BLOCK_SIZE IFS
  list | pack | tr '\001' '\000'
}
main </dev/null
