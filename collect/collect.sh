#!/bin/sh
# Prints, as a tar, what whofixes needs to know of this host. It reads and changes nothing: no temporary file, no setting.
# Needs a POSIX shell, find, ls, awk, sed and tr. As root it sees all; as another user it says in evidence.json what it could not read.
#
#   ssh node1 sudo sh -s < collect.sh > node1.tar     another host
#   sudo sh collect.sh > here.tar                     this one
#   sudo ROOT=/mnt sh collect.sh > image.tar          a file system that is mounted at /mnt
#
# How: `list` names paths and prints lines about them, `pack` (one awk) makes a tar of the lines.
#   =PATH           the list of what may be read: nothing else is
#   a line of ls    what stands there; the content of a plain file is then read, and what looks like a secret put out of it
#   @KIND PATH      what is said of it in evidence.json, so that what is not in the tar is known not to exist
#   @run, >         a command and what it printed
# Others can name files, and link them, so that one line of ls looks like two. So whatever holds a control character is left out
# and called unreadable, links are looked at one by one, no link is read through, and nothing outside of ROOT is looked at.

### Paths

say() { # say KIND PATH…
  said=$1
  shift
  for each do case $each in *[[:cntrl:]]*) ;; *) printf '@%s /%s\n' "$said" "$each" ;; esac done
}

inside() { # whether the directory of a path lies in ROOT, all links followed
  case $top,$1 in ,*) return 0 ;; *,*/*) dir=${1%/*} ;; *) return 0 ;; esac
  [ "$dir" != "$last" ] || return "$was"
  last=$dir was=0
  case $(cd -P "./$dir" 2>/dev/null && pwd -P)/ in
    "$top"/*) ;;
    *) while [ "$was" = 0 ]; do
      [ ! -h "$dir" ] || was=1
      case $dir in */*) dir=${dir%/*} ;; *) break ;; esac
    done ;;
  esac
  return "$was"
}

shown() { # shown KIND WHICH PATH…: what stands there, of those that find calls WHICH
  kind=$1 which=$2
  shift 2
  for path do
    shift
    case $path in
      *'*'*) continue ;; # a pattern that matched nothing
      *[[:cntrl:]]*) say unreadable "${path%/*}" && continue ;;
    esac
    inside "$path" || { say unreadable "$path" && continue; }
    [ -z "$kind" ] || say "$kind" "$path"
    set -- "$@" "$path"
  done
  [ $# -gt 0 ] || return 0
  # shellcheck disable=SC2086 # words of find
  {
    find "$@" $which -path '*[[:cntrl:]]*' -prune -exec dirname {} \; | sed 's|^|@unreadable /|'
    find "$@" -path '*[[:cntrl:]]*' -prune -o $which ! -type l -print | sed 's/^/=/'
    find "$@" -path '*[[:cntrl:]]*' -prune -o $which ! -type l -exec ls -lnd {} +
    find "$@" -path '*[[:cntrl:]]*' -prune -o $which -type l -print | linked
  } 2>/dev/null
}

linked() { # links: together where each has one line of its own, else each by itself
  links=$(cat)
  [ -n "$links" ] || return 0
  rows=$(lines 'ls -lnd' "$links" 2>/dev/null; echo .)
  if printf '%s\n' "$links" '' "$rows" | awk '
    $0 == "" && !inRows { inRows = 1; next }
    !inRows { link[$0]++; n++; next }
    $0 == "." && !ends++ { next }
    { n--; if (!sub(/^l[^ ]+ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +[^ ]+ +[^ ]+ +[^ ]+ /, "")) bad = 1 }
    /[\001-\037\177]/ || link[substr($0, 1, index($0, " -> ") - 1)]-- < 1 { bad = 1 }
    END { exit bad || n != 0 }'
  then
    printf '%s\n' "$links" | sed 's/^/=/'
    printf '%s\n' "${rows%??}"
    return
  fi
  printf '%s\n' "$links" | while IFS= read -r link; do
    line=$(ls -lnd "$link" 2>/dev/null; echo .)
    line=${line%??}
    case $line in
      .) ;; # it is gone
      *[[:cntrl:]]*) say unreadable "$link" ;;
      *) printf '=%s\n%s\n' "$link" "$line" ;; # one without a target is called unreadable by pack
    esac
  done
}

asked() { shown asked -prune "$@"; } # whether they are there, and what they are
standing() { shown '' -prune "$@"; } # the same, of some of many

listed() { # the names in a directory
  say listed "$1"
  standing "$1"/* "$1"/.[!.]*
}

captured() { # paths and all that lies under them
  [ $# -gt 0 ] || return 0
  shown captured '' "$@"
  find "$@" -path '*[[:cntrl:]]*' -prune -o -type d -print 2>/dev/null | while IFS= read -r dir; do
    if [ ! -r "$dir" ] || [ ! -x "$dir" ]; then say unreadable "$dir"; fi
  done
  above=$(printf '%s\n' "$@" | awk '{ while (sub(/\/[^\/]*$/, "")) if (!seen[$0]++) print }')
  lines asked "$above"
}

lines() { # lines COMMAND TEXT: with the lines as arguments
  run=$1 text=$2
  set -f
  IFS='
'
  # shellcheck disable=SC2086 # to be split
  set -- $text
  unset IFS
  set +f
  $run "$@"
}

### What is asked for

# Processes that listen: the descriptor, control group, name and program of each. Neither arguments nor environment.
listening() {
  # A line that somebody made up names a descriptor at most, and pack takes none that is not of a socket.
  held=$(find proc/[0-9]*/fd -type l -exec ls -lnd {} + 2>/dev/null | WANT=$(
    awk '$4 == "0A" { printf "socket:[%s] ", $10 }' proc/net/tcp proc/net/tcp6 proc/1/net/tcp proc/1/net/tcp6 2>/dev/null
  ) awk 'BEGIN { n = split(ENVIRON["WANT"], w, " "); for (i = 1; i <= n; i++) is[w[i]] = 1 }
    $NF in is && $(NF - 1) == "->" && $(NF - 2) ~ /^proc\/[0-9]+\/fd\/[0-9]+$/ { print $(NF - 2) }')
  lines standing "$held"
  say listed proc
  set --
  for pid in $(printf '%s\n' "$held" | awk -F / 'BEGIN { print seen[1] = 1 } $2 && !seen[$2]++ { print $2 }'); do
    say listed "proc/$pid/fd"
    for name in '' /fd /comm /cgroup /stat /exe /ns/net; do set -- "$@" "proc/$pid$name"; done
  done
  for dir in proc/[0-9]*; do
    if [ ! -d "$dir/fd" ] || [ -r "$dir/fd" ]; then continue; fi
    say unreadable "$dir/fd"
    set -- "$@" "$dir" "$dir/comm" "$dir/cgroup"
  done
  asked "$@" proc/self/ns/net
}

interfaces() { # in the directories of the devices, where the links in /sys/class/net lead
  listed sys/class/net
  for what in 'captured address mtu operstate type flags' 'asked bridge bonding device'; do
    set --
    for link in sys/class/net/*; do
      dir=$(cd -P "$link" 2>/dev/null && pwd -P) || continue
      dir=${dir#"$top"/}
      case $dir in /*) continue ;; esac
      for name in ${what#* }; do set -- "$@" "$dir/$name"; done
    done
    ${what%% *} "$@"
  done
}

# Scripts that units, rc.local and cron run: plain files of at most 64 KiB that nobody but root, or who runs this, can put there.
scripts() {
  units=etc/systemd/system
  for dir in $libs; do units="$units $dir/systemd/system"; done
  # shellcheck disable=SC2086 # words
  on=$(find $units -type l \( -path '*.wants/*' -o -path '*.requires/*' \) 2>/dev/null)
  # shellcheck disable=SC2086 # words
  names=$(ENABLED=$on find $units etc/rc.local etc/rc.d/rc.local etc/crontab etc/cron.d var/spool/cron/crontabs var/spool/cron/root var/spool/cron/tabs/root -path '*[[:cntrl:]]*' -prune \
    -o -type f \( ! -path '*/systemd/*' -o -name '*.service' -o -path '*.d/*.conf' \) -exec awk '
      BEGIN { n = split(ENVIRON["ENABLED"], each, "\n"); for (i = 1; i <= n; i++) on[unit(each[i])] = 1 }
      function unit(path) { sub(/\.d\/[^\/]*$/, "", path); sub(/.*\//, "", path); sub(/@[^.]*\./, "@.", path); return path }
      FNR == 1 { file = FILENAME; ours = file ~ /^etc|local/ || unit(file) in on; more = 0 }
      file ~ /systemd/ ? ours && (more || /^[ \t]*Exec[A-Za-z]*[ \t]*=/) : file ~ /^(etc|var.spool).cron/ ? /^[ \t]*@reboot/ : !/^[ \t]*#/ {
        more = /\\$/; sub(/=[ \t]*[-@:+!|]*/, " "); n = split($0, word, /[ \t"\047;|&=()<>]+/)
        for (i = 1; i <= n; i++) if (word[i] ~ /^\/[A-Za-z0-9_.\/+-]+$/ && word[i] !~ /\/\.\.?\/|^\/(proc|sys|dev)\//) print substr(word[i], 2)
      }' {} + 2>/dev/null | sort -u)
  set --
  for path in $(lines small "$names"); do
    if [ -f "$path" ] && [ ! -h "$path" ] && inside "$path" && guarded "$path"; then set -- "$@" "$path"; fi
  done
  echo @scripts
  asked "$@"
}

small() { find "$@" -prune -type f -size -129 2>/dev/null; }

guarded() { # guarded PATH: whether only root, or who runs this, decides what stands there
  real=$(cd -P "./${1%/*}" 2>/dev/null && pwd -P) || return 1
  real=${real#"$top"/}
  set -- "$1"
  for dir in "${1%/*}" "$real"; do
    while set -- "$@" "$dir"; do case $dir in */*) dir=${dir%/*} ;; *) break ;; esac done
  done
  [ -z "$(find "$@" -prune \( ! -user 0 ! -user "$me" -o ! -type l \( -perm -002 -o -perm -020 ! -group 0 \) \) 2>&1)" ]
}

output() { # what a command prints that only looks; its status is the last line
  command -v "$1" >/dev/null 2>&1 || return 0
  printf '@run'
  printf '\t%s' "$@"
  { echo; "$@" 2>/dev/null; printf '\n%s\n' "$?"; } | sed '2,$s/^/>/'
}

list() {
  libs='usr/lib usr/local/lib'
  [ -h lib ] || libs="$libs lib"
  asked bin sbin lib lib64
  release=$(cat proc/sys/kernel/osrelease 2>/dev/null || uname -r)
  set -- etc/fstab etc/sysctl.conf etc/modules etc/initramfs-tools/modules etc/default/zramswap etc/default/grub etc/waagent.conf \
    etc/dphys-swapfile etc/rc.local etc/rc.d/rc.local etc/crontab etc/cron.d var/spool/cron/crontabs var/spool/cron/root var/spool/cron/tabs/root etc/ufw/sysctl.conf etc/ufw/ufw.conf \
    etc/default/ufw etc/tuned usr/lib/tuned etc/systemd run/systemd/system run/systemd/generator run/systemd/generator.early \
    run/systemd/generator.late run/systemd/transient etc/selinux/config etc/os-release usr/lib/os-release etc/*-release etc/*_version \
    etc/hostname etc/hosts etc/resolv.conf run/systemd/resolve/resolv.conf run/systemd/resolve/stub-resolv.conf run/NetworkManager/resolv.conf \
    run/resolvconf/resolv.conf run/netconfig/resolv.conf etc/dhcp/dhclient.conf etc/dhclient.conf etc/NetworkManager/NetworkManager.conf \
    etc/NetworkManager/conf.d run/NetworkManager/conf.d usr/lib/NetworkManager/conf.d proc/meminfo proc/swaps proc/modules proc/cmdline proc/cpuinfo proc/mounts proc/self/mounts proc/version \
    proc/net/tcp proc/net/tcp6 proc/1/net/tcp proc/1/net/tcp6 proc/net/route proc/net/ipv6_route proc/net/if_inet6 proc/net/fib_trie \
    proc/sys/net/bridge proc/sys/net/ipv4/ip_forward proc/sys/net/ipv4/ip_local_reserved_ports proc/sys/net/ipv4/conf/*/forwarding \
    proc/sys/net/ipv4/conf/*/rp_filter proc/sys/net/ipv6/conf/*/forwarding proc/sys/net/ipv6/conf/*/disable_ipv6 \
    proc/sys/net/netfilter/nf_conntrack_max proc/sys/kernel/panic proc/sys/kernel/panic_on_oops proc/sys/kernel/osrelease \
    proc/sys/kernel/version proc/sys/kernel/arch proc/sys/kernel/hostname proc/sys/kernel/pid_max proc/sys/kernel/keys proc/xen \
    sys/hypervisor/type etc/coreos/update.conf etc/products.d/baseproduct proc/sys/vm/overcommit_memory proc/sys/vm/panic_on_oom \
    proc/sys/vm/swappiness proc/sys/vm/max_map_count proc/sys/fs/inotify proc/sys/fs/file-max proc/sys/fs/may_detach_mounts \
    proc/sys/crypto/fips_enabled proc/sys/user/max_user_namespaces sys/fs/selinux/enforce sys/fs/selinux/policyvers
  for dir in etc run $libs; do
    set -- "$@" "$dir/sysctl.d" "$dir/modules-load.d" "$dir/modprobe.d" "$dir/systemd/network"
    for name in zram-generator networkd resolved; do set -- "$@" "$dir/systemd/$name.conf" "$dir/systemd/$name.conf.d"; done
  done
  for dir in $libs; do set -- "$@" "$dir/systemd/system" "$dir/modules/$release/modules.dep" "$dir/modules/$release/modules.builtin"; done
  captured "$@"
  for dir in proc/sys/net/ipv4/conf proc/sys/net/ipv6/conf sys/module; do listed "$dir"; done
  # Control groups: their directories say which units run. Version 2 has one tree, version 1 keeps units in the one of systemd.
  groups=sys/fs/cgroup/systemd
  [ ! -e sys/fs/cgroup/cgroup.controllers ] || groups=sys/fs/cgroup
  asked sys/fs sys/fs/cgroup sys/fs/cgroup/cgroup.controllers
  shown captured '-type d' "$groups"
  listening
  interfaces
  scripts

  echo @names # contents stay where they are from here on: that a file is there is all that is said
  for dir in etc etc/rc2.d etc/rc3.d etc/rc4.d etc/rc5.d; do listed "$dir"; done
  captured etc/kubernetes etc/ssl/etcd etc/cni/net.d etc/containerd etc/crio etc/docker \
    etc/systemd/system-generators usr/lib/systemd/system-generators usr/local/lib/systemd/system-generators
  set -- boot opt opt/cni opt/cni/bin var var/lib var/lib/etcd var/lib/kubelet var/lib/containerd var/lib/docker var/lib/cni .dockerenv \
    run/ostree-booted run/containerd/containerd.sock run/crio/crio.sock run/docker.sock run/systemd/container run/.containerenv \
    swapfile swap.img var/swap etc/apparmor etc/apparmor.d
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
  output systemctl --version
  output systemctl list-units --all --plain --no-legend
  output systemctl list-unit-files --no-legend
  # shellcheck disable=SC2016 # for dpkg-query, not for the shell
  output dpkg-query -W -f '${Package} ${Version} ${Architecture} ${db:Status-Abbrev}\n'
  output rpm -qa --qf '%{NAME} %{EPOCHNUM} %{VERSION} %{RELEASE} %{ARCH}\n'
}

### The tar. NUL is written as \001, of which tr makes NUL: not every awk can print one.

pack() {
  awk '
  BEGIN {
    ORS = ""; NUL = "\001"; for (NULS = NUL; length(NULS) < 512;) NULS = NULS NULS
    for (i = 1; i < 256; i++) code[sprintf("%c", i)] = i
    JOIN = "\002"; blank = "[ \t" JOIN "]" # where a line that is continued was joined
    hint = "key|token|pass|secret|cred|auth|psk|pat"; login = "://[^/@ \t\"]*:[^/@ \t\"]*@"
    strong = "key|token|pass|secret|cred|auth|psk|(^|[_.-])pat([_.-]|$)"
    sure = "token|passw|passphrase|secret|preshared|psk|set_credential|(api|private|access|encryption|fastopen)[_-]?key"
    between = "^[\"\047]?" blank "*([=:,+]+" blank "*|" blank ")"
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

  # The text of a file; why says why there is none.
  function content(path, size,    text, more, got, kernel) {
    why = names || size > 16777216 || scripts && size > 65536 || isKept(path) ? "withheld" : ""
    if (why) return ""
    RS = NUL; got = (getline text < path)
    if (got < 0) why = "unreadable"
    if (got > 0 && (getline more < path) > 0) why = "withheld"
    RS = "\n"; close(path); if (got < 1) text = ""
    kernel = path ~ /^(proc|sys)\//
    if (!why && (!kernel && length(text) != size || scripts && text !~ /^#!/ || text ~ /-----BEGIN [A-Z ]*PRIVATE KEY/)) why = "withheld"
    if (!why && !kernel && index(text, JOIN)) why = "withheld"
    return why ? "" : kernel && path != "proc/cmdline" || path ~ /^(usr\/(local\/)?)?lib\/modules\// ? text : masked(path, text)
  }
  function isKept(path) { # what lies among the files of systemd and tuned and is none
    if (path ~ /\/tuned\//) return path !~ /\/(tuned\.conf|active_profile)$/
    return !scripts && path ~ /^(etc|run|(usr\/(local\/)?)?lib)\/systemd\// && (path ~ /\/credstore/ || path !~ \
      /(\.(service|socket|target|timer|path|mount|automount|swap|slice|scope|device|network)|\/systemd\/(resolve\/)?[^\/]*\.conf|\.d\/[^\/]*\.conf)$/)
  }

  # Secrets. Lines that are continued are looked at as one, and there are as many lines afterwards as before.
  function masked(path, text,    n, i, j, k, lines, part, out, at) {
    isCron = path ~ /^(etc|var\/spool)\/cron/; only = isCron ? "^[ \t]*@reboot" : ""
    if (path ~ /NetworkManager\/(NetworkManager\.conf$|conf\.d\/)/) only = "^[ \t]*(\\[|(unmanaged-devices|match-device|managed|dns|rc-manager|searches)[ \t]*[+-]?=)"
    if (path ~ /\/dhclient\.conf$/) only = "^(# Ansible entries|[ \t]*(supersede|prepend|append)[ \t]+domain-)"
    isShell = isCron || text ~ /^#!/; at = 1
    ends = path == "etc/fstab" ? "[," : isShell ? "[;&|()<>" : "["; ends = ends " \t" JOIN "]"
    if (!isCron) gsub(/\\\n/, JOIN, text)
    n = split(text, lines, "\n")
    for (i = 1; i <= n; i++) {
      if (only != "" && lines[i] !~ only) lines[i] = ""
      k = split(hidden(lines[i], "/" path ":", at), part, JOIN); out = out (i > 1 ? "\n" : "")
      for (j = 1; j <= k; j++) out = out (j > 1 ? "\\\n" : "") part[j]
      at += k ? k : 1
    }
    return out
  }
  function joins(text) { gsub("[^" JOIN "]", "", text); return text }
  function hidden(line, place, at,    low, whole, out, name, before, sep, rest, q, how, n, c) {
    low = tolower(line)
    if (low !~ hint && line !~ login) return line
    whole = low ~ /^[ \t]*environment[ \t]*=/; isExec = low ~ /^[ \t]*exec/
    if (low ~ /^[ \t]*setcredential[a-z]*[ \t]*=/) { note("masked", place at); n = index(line, "="); return substr(line, 1, n) "withheld" joins(line) }
    while (match(line, /[A-Za-z0-9_.\/-]+/)) {
      before = substr(line, 1, RSTART - 1); name = substr(line, RSTART, RLENGTH); line = substr(line, RSTART + RLENGTH)
      q = quote(before, q); out = out before name
      if (tolower(name) !~ strong || name ~ /^[Aa]uthor$/ || !match(line, between)) continue
      sep = substr(line, 1, RLENGTH); rest = substr(line, RLENGTH + 1)
      if (!isNamed(name, sep, whole) || sep !~ /[=:]/ && rest ~ /^-/) continue
      if (!whole && (isShell || isExec) && rest ~ /^"?[$`][({A-Za-z_]/) continue # the value of a variable
      q = low ~ /^[ \t]*[#;]/ ? "" : quote(sep, q); c = substr(rest, 1, 1)
      how = low ~ /^[ \t]*[#;]/ || sep ~ (":" blank) ? "line" : q != "" && before ~ (q "$") && out !~ /[ \t]-[a-z]*c[ \t]+["\047][^ \t]*$/ ? "quote" : "word"
      if (how != "quote" && c ~ /["\047]/ && sep ~ /[:,]/ && low !~ /^[ \t]*[#;]/) how = "piece"
      if (whole && sep ~ /=/ && name !~ /^-/) how = "whole"
      if (!(n = extent(rest, how, q))) continue
      note("masked", place at + length(joins(out sep)))
      c = how != "whole" && c ~ /["\047]/ && c != q && substr(rest, n, 1) == c ? c : ""
      out = out sep c "withheld" c (how == "whole" ? q : "") joins(substr(rest, 1, n)); line = substr(rest, n + 1)
    }
    for (line = out line; match(line, login);) {
      note("masked", place at + length(joins(substr(line, 1, RSTART))))
      line = substr(line, 1, RSTART + 2) "withheld@" substr(line, RSTART + RLENGTH)
    }
    return line
  }
  # An option, a variable in one case, or a name that says it anywhere. Names of directives and of kernel settings are none of these.
  function isNamed(name, sep, whole,    low) {
    low = tolower(name)
    if (name ~ /^--[^\/]*$|^-[^.\/-][^.\/]*$/) return 1
    if (sep ~ /=/) return low ~ sure || (whole || name == low || name == toupper(name)) && name !~ /[.\/]/
    return sep ~ /:/ && name !~ /\//
  }
  function quote(text, q,    i, c) { # the quote that is open after a text
    if (text ~ /["\047]/) for (i = 1; i <= length(text); i++) {
      c = substr(text, i, 1)
      if (c == "\\" && q != "\047") i++; else if (c == q) q = ""; else if (q == "" && c ~ /["\047]/) q = c
    }
    return q
  }
  function extent(text, how, q,    i, c, open) { # how long a value is
    if (how != "whole") for (i = 1; i <= length(text); i++) {
      c = substr(text, i, 1)
      if (c == "\\" && open != "\047" && q != "\047") i++
      else if (open != "") { if (c == open) { open = ""; if (how == "piece") return i } }
      else if (q != "" && c == q) return i - 1
      else if (how == "word" && c ~ ends) return i - 1
      else if (how != "line" && how != "quote" && c ~ /["\047]/) open = c
    }
    return length(text)
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
  /^@scripts/ { scripts = 1; next }
  /^@names/ { scripts = 0; names = 1; next }
  /^@/ { note(substr($1, 2), substr($0, length($1) + 2)); next }
  /^=/ { path = substr($0, 2); may[path] = 1; next }
  /^[-dlbcps]/ {
    mode = 0; type = substr($1, 1, 1); link = path; path = $0; target = text = ""
    for (i = 2; i <= 10; i++) mode = mode * 2 + (substr($1, i, 1) !~ /[-ST]/)
    mode += 2048 * (substr($1, 4, 1) ~ /[sS]/) + 1024 * (substr($1, 7, 1) ~ /[sS]/) + 512 * (substr($1, 10, 1) ~ /[tT]/)
    sub(/^[^ ]+ +[0-9]+ +[0-9]+ +[0-9]+ +([0-9]+, *)?[0-9]+ +[^ ]+ +[^ ]+ +[^ ]+ /, "", path)
    if (type == "l") {
      if (path != link && index(path, link " -> ") != 1) link = substr(path, 1, index(path, " -> ") - 1)
      target = substr(path, length(link) + 5); path = link
    }
    if (!(path in may) || seen[path]++ || path == "proc/net") next # a link to that of this very process
    if (type == "l" && path ~ /^proc\/[0-9]+\/fd\// && target !~ /^socket:\[[0-9]+\]$/) next
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
  top=$(pwd -P) me=$(id -u) last='' was=0
  top=${top%/}
  list | pack | tr '\001' '\000'
}
main </dev/null
