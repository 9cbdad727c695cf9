#!/usr/bin/env bash
# Runs setup.sh and `make test` on a machine that has nothing: a bare root of this machine's own Debian or Ubuntu release,
# with a clean clone of the committed state in it. Needs root, and what debootstrap needs (wget, gpgv).
#
#   tests/bare_machine.sh                        setup.sh and `make test`
#   tests/bare_machine.sh --runs 10              ten times, each on a new machine; ends at the first failure
#   tests/bare_machine.sh --command 'make lint'  setup.sh, and this command of bash instead of `make test`
#   tests/bare_machine.sh --folder DIR           make the root in DIR (8 GB) instead of TMPDIR or /var/tmp
#
# At the end of each run it prints how long every part took and which tests were skipped. It ends with status 0 if all
# runs passed.
#
# The root has its own mounts, processes, control groups, host name and semaphores: /proc, /sys with cgroup2, /run and
# /dev (with /dev/net/tun, and /dev/kvm if there is one) are as a machine has them after its start. setup.sh has this
# machine's network, since it downloads. The tests have one of their own with nothing in it but the loopback, so they
# meet no lab of this machine, and whatever they need has to have come with setup.sh.
#
# Mirrors, proxies and certificates are those that this machine uses: apt's sources and its Acquire settings, files and
# variables of pip, uv and cargo, the certificates that this machine trusts, its names (resolv.conf, hosts). Passwords
# are not passed on. Whatever it made is removed at the end, also after Ctrl-C or a failure: processes, mounts, root.
set -euo pipefail

say() { printf 'bare machine: %s\n' "$*"; }
die() { printf 'bare machine: %s\n' "$*" >&2; exit 1; }

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
checkout=/root/eee-testbed

# ---- Inside, in three steps: process 1 of the machine, its rest after the change of root, the tests' network.

make_nodes() {
    local name major minor
    mount -t tmpfs -o mode=755,nosuid dev dev
    while read -r name major minor; do
        mknod -m 666 "dev/$name" c "$major" "$minor"
    done <<<$'null 1 3\nzero 1 5\nfull 1 7\nrandom 1 8\nurandom 1 9\ntty 5 0'
    mkdir -m 755 dev/net dev/pts dev/shm dev/mqueue
    mknod -m 666 dev/net/tun c 10 200
    if [ -e /dev/kvm ]; then mknod -m 660 dev/kvm c 10 232; fi
    ln -s /proc/self/fd dev/fd
    ln -s /proc/self/fd/0 dev/stdin
    ln -s /proc/self/fd/1 dev/stdout
    ln -s /proc/self/fd/2 dev/stderr
    ln -s pts/ptmx dev/ptmx
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
    mount -t tmpfs -o nosuid,nodev shm dev/shm
    mount -t mqueue mqueue dev/mqueue
}

mount_sys() {
    mount -t sysfs -o nosuid,nodev,noexec sysfs /sys
    mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 /sys/fs/cgroup
}

first_process() { # ROOT, GROUP, WHEELS or nothing
    local root=$1 group=$2 wheels=$3
    mkdir -p "$root.groups"
    mount -t cgroup2 cgroup2 "$root.groups"
    mkdir -p "$root.groups/$group"
    echo 0 >"$root.groups/$group/cgroup.procs"
    umount "$root.groups"
    hostname bare
    mount --bind "$root" "$root"
    cd "$root"
    if [ -n "$wheels" ]; then
        mkdir -p ".$wheels"
        mount --bind "$wheels" ".$wheels"
    fi
    make_nodes
    mount -t proc -o nosuid,nodev,noexec proc proc
    mount -t tmpfs -o mode=755,nosuid,nodev run run
    mkdir -m 1777 run/lock
    pivot_root . mnt
    exec unshare --cgroup -- "$checkout/.bare_machine" --rest
}

rest() {
    umount -l /mnt
    mount --make-rshared / # as systemd leaves it
    mount_sys
    cd "$checkout"
    mv .bare_machine /root/bare_machine
    : >/root/parts
    part setup.sh ./setup.sh
    unshare --net --mount --propagation shared /root/bare_machine --tests
}

tests() {
    umount -R /sys
    mount_sys
    ip link set lo up
    cd "$checkout"
    if [ -e /root/command ]; then
        part "$(head -n1 /root/command)" bash /root/command
    else
        make -n test >/root/recipes
        # Lines that make says are what it is about to do: from one to the next is a part.
        make test 2>&1 | clock_parts
    fi
}

part() { # NAME, COMMAND...: run it and note how long it took
    local name=$1 begun=$SECONDS status=0
    shift
    "$@" || status=$?
    printf '%s\t%s\n' "$((SECONDS - begun))" "$name" >>/root/parts
    return "$status"
}

clock_parts() {
    local line name="make test: setup" begun=$SECONDS
    while IFS= read -r line; do
        if grep -qxF -e "$line" /root/recipes; then
            printf '%s\t%s\n' "$((SECONDS - begun))" "$name" >>/root/parts
            name=$line begun=$SECONDS
        fi
        case $line in
            SKIPPED*) printf '%s\n' "$line" >>/root/skipped ;;
        esac
        printf '%s\n' "$line"
    done
    printf '%s\t%s\n' "$((SECONDS - begun))" "$name" >>/root/parts
}

case "${1:-}" in
    --first-process) shift; first_process "$@"; exit ;;
    --rest) rest; exit ;;
    --tests) tests; exit ;;
esac

# ---- Outside.

runs=1 command='' parent=${TMPDIR:-/var/tmp}
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || die "$1 needs a value, or is unknown: see the head of $0"
    case $1 in
        --runs) runs=$2 ;;
        --command) command=$2 ;;
        --folder) parent=$2 ;;
        *) die "unknown option $1: see the head of $0" ;;
    esac
    shift 2
done
[[ $runs =~ ^[1-9][0-9]*$ ]] || die "--runs takes a number from 1, not $runs"
[ "$(id -u)" -eq 0 ] || die "this makes mounts and device nodes: run it as root"
[ -c /dev/net/tun ] || die "/dev/net/tun is missing, and the tests need it: load it with \`modprobe tun\`"
for tool in apt-get dpkg-deb git wget gpgv unshare pivot_root; do
    command -v "$tool" >/dev/null || die "$tool is missing here: install it"
done
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
[ -n "$release" ] || die "/etc/os-release names no release: Debian or Ubuntu is needed"

work=$(mktemp -d -p "$parent" bare-machine.XXXXXX)
group=bare-machine-$$ machine=''
cleaned=

# Processes end with their process 1, mounts with their processes. The control group can be removed when none is left.
remove_machine() {
    if [ -n "$machine" ]; then
        kill -KILL "$machine" 2>/dev/null || true
        wait "$machine" 2>/dev/null || true
        machine=
    fi
    mkdir -p "$work/groups"
    unshare --mount bash -c '
        mount -t cgroup2 cgroup2 "$1/groups" && cd "$1/groups" || exit 1
        for _ in $(seq 300); do
            [ -d "$2" ] || exit 0
            find "$2" -depth -type d -exec rmdir {} + 2>/dev/null && exit 0
            sleep 0.1
        done
        echo "bare machine: processes are left in the control group $2" >&2
        exit 1' - "$work" "$group" || return 1
    rm -rf --one-file-system "$work/root" "$work/root.groups"
}

clean() {
    [ -z "$cleaned" ] || return 0
    cleaned=1
    trap '' INT TERM HUP
    if remove_machine; then rm -rf --one-file-system "$work"; else say "left behind: $work" >&2; fi
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

debootstrap=debootstrap
if ! command -v debootstrap >/dev/null; then
    say "fetching debootstrap, unpacked and not installed"
    (cd "$work" && apt-get download -qq -o APT::Sandbox::User=root debootstrap) || die "apt-get could not download debootstrap: run apt-get update"
    dpkg-deb -x "$work"/debootstrap_*.deb "$work/tools"
    export DEBOOTSTRAP_DIR=$work/tools/usr/share/debootstrap
    debootstrap=$work/tools/usr/sbin/debootstrap
fi

# apt's sources of the release itself, one per line: URI, suite, component.
sources=$(
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | awk -v release="$release" '
        ($2 == release || index($2, release "-") == 1) && $3 ~ /^(main|universe|contrib|non-free|restricted|multiverse)$/' |
        sort -u
)
mirror=$(awk -v release="$release" '$2 == release && $3 == "main" { print $1; exit }' <<<"$sources")
[ -n "$mirror" ] || die "apt has no source for the component main of $release"
case $mirror in
    https:*) early=ca-certificates ;;
    *) early= ;;
esac

acquire=$(apt-config dump --format '%F "%v";%n' Acquire | grep -v '^Acquire::IndexTargets' || true)
proxy=$(apt-config --format %v%n dump Acquire::http::Proxy | head -n1)
[ -z "$proxy" ] || export http_proxy=${http_proxy:-$proxy}

# Variables by which pip, uv, cargo and their libraries find a registry. None that has a password for a name.
variables=()
while IFS= read -r -d '' entry; do
    name=${entry%%=*}
    case $name in
        *PASSWORD* | *TOKEN* | *SECRET* | *CACHE*) ;;
        PIP_* | UV_*INDEX* | UV_FIND_LINKS | UV_NATIVE_TLS | UV_SYSTEM_CERTS | UV_HTTP_* | UV_INSECURE_HOST | \
            CARGO_HTTP_* | CARGO_NET_* | CARGO_REGISTR* | CARGO_SOURCE_* | \
            SSL_CERT_* | *CA_BUNDLE | GIT_SSL_CAINFO | \
            http_proxy | https_proxy | ftp_proxy | all_proxy | no_proxy | \
            HTTP_PROXY | HTTPS_PROXY | FTP_PROXY | ALL_PROXY | NO_PROXY)
            variables+=("$entry")
            ;;
    esac
done < <(env -0)
wheels=${PIP_FIND_LINKS:-}
[[ $wheels == /* && -d $wheels ]] || wheels=

copy_in() { # FILE here, PATH there: copied if there is such a file
    [ -f "$1" ] || return 0
    mkdir -p "$root$(dirname "$2")"
    cp -L "$1" "$root$2"
}

configure() {
    local path number=0 file
    awk '{ print "deb " $1 " " $2 " " $3 }' <<<"$sources" >"$root/etc/apt/sources.list"
    printf '%s\n' "$acquire" >"$root/etc/apt/apt.conf.d/95acquire"
    # Files that these settings and variables name. The bundle of certificates is made there, from what follows.
    for path in $(printf '%s\n' "$acquire" "${variables[@]}" | grep -oE '/[^"= ]+' || true); do
        case $path in
            /etc/ssl/certs/*) ;;
            *) copy_in "$path" "$path" ;;
        esac
    done
    for path in /etc/pip.conf /etc/uv/uv.toml /etc/cargo/config.toml; do
        copy_in "$path" "$path"
    done
    for path in .config/pip/pip.conf .pip/pip.conf .config/uv/uv.toml; do
        copy_in "$HOME/$path" "/root/$path"
    done
    for path in config config.toml; do
        copy_in "${CARGO_HOME:-$HOME/.cargo}/$path" "/root/.cargo/$path"
    done
    for file in $(find /usr/local/share/ca-certificates -name '*.crt' 2>/dev/null | sort); do
        number=$((number + 1))
        copy_in "$file" "/usr/local/share/ca-certificates/machine-$number.crt"
    done
    if [ -n "$early" ]; then chroot "$root" update-ca-certificates >/dev/null; fi
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    cat /etc/hosts >"$root/etc/hosts"
    printf '127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n127.0.1.1 bare\n' >>"$root/etc/hosts"
    echo bare >"$root/etc/hostname"
}

report() {
    local took name
    [ -s "$root/root/parts" ] || return 0
    say "how long each part took (min:s)"
    while IFS=$'\t' read -r took name; do
        printf '  %3d:%02d  %s\n' "$((took / 60))" "$((took % 60))" "$name"
    done <"$root/root/parts"
    [ ! -s "$root/root/skipped" ] || { say "skipped tests"; sed 's/^/  /' "$root/root/skipped"; }
}

base=$work/base root=$work/root begun=$SECONDS
say "making a root of $release"
DEBIAN_FRONTEND=noninteractive "$debootstrap" --variant=minbase ${early:+--include=$early} "$release" "$base" "$mirror" \
    >"$work/debootstrap.log" 2>&1 || { tail -n 20 "$work/debootstrap.log" >&2; die "debootstrap failed"; }
say "the root took $((SECONDS - begun)) s"

for run in $(seq "$runs"); do
    begun=$SECONDS
    say "run $run of $runs, of commit $(git -C "$repository" rev-parse --short HEAD)"
    cp -a "$base" "$root"
    configure
    git clone --quiet --no-hardlinks "$repository" "$root$checkout"
    cp "${BASH_SOURCE[0]}" "$root$checkout/.bare_machine"
    [ -z "$command" ] || printf '%s\n' "$command" >"$root/root/command"
    status=0
    # A job in the background would ignore Ctrl-C, and whatever it starts with it.
    env -i --default-signal=INT,QUIT "${variables[@]}" HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        setsid setpriv --pdeathsig KILL \
        unshare --mount --uts --ipc --pid --fork --kill-child=KILL \
        bash "$root$checkout/.bare_machine" --first-process "$root" "$group" "$wheels" </dev/null &
    machine=$!
    wait "$machine" || status=$?
    machine=
    report
    say "run $run of $runs: $([ "$status" -eq 0 ] && echo passed || echo "failed with status $status"), $((SECONDS - begun)) s"
    remove_machine
    [ "$status" -eq 0 ] || exit 1
done
say "$runs of $runs runs passed"
