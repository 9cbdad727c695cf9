#!/usr/bin/env bash
# Runs setup.sh and `make test` on a machine that has nothing: a bare root of this machine's own Debian or Ubuntu release
# or of another one, with a clean clone of the committed state in it. Needs root, and what debootstrap needs (wget, gpgv).
#
#   tests/bare_machine.sh                        setup.sh and `make test`
#   tests/bare_machine.sh --runs 10              ten times, each on a new machine; ends at the first failure
#   tests/bare_machine.sh --command 'make lint'  setup.sh, and this command of bash instead of `make test`
#   tests/bare_machine.sh --release trixie       another release of the same distribution, from the same mirror
#   tests/bare_machine.sh --wheels dist          instead: install the wheels of a folder as a user, without any compiler
#   tests/bare_machine.sh --folder DIR           make the root in DIR (it takes 8 GB) instead of TMPDIR or /var/tmp
#
# After each run it prints how long every part took and which tests were skipped. It ends with status 0 if all runs
# passed.
#
# The machine has its own mounts, processes, control groups, host name and semaphores: /proc, /sys with cgroup2, /run and
# /dev (with /dev/net/tun, and /dev/kvm if there is one) are as they are after a start. setup.sh has this machine's
# network, since it downloads. The tests have one of their own with nothing in it but the loopback: they meet no lab of
# this machine, and whatever they need has to have come with setup.sh. The limits of the kernel's neighbour table, which
# labs raise, are one for all networks of the kernel: the tests see and set this machine's.
#
# Mirrors, proxies and certificates are those that this machine uses: apt's sources of its release (for another one under
# its name) and its Acquire settings, files and variables of pip, uv and cargo, the certificates added to this machine,
# resolv.conf and hosts. Files with passwords are not copied. Whatever was made is removed at the end, also after Ctrl-C or
# a failure: processes, mounts, control groups, the root.
set -euo pipefail

checkout=/root/eee-testbed # inside
neighbours=/proc/sys/net/ipv4/neigh # a kernel shows its limits only in its first network

say() { printf 'bare machine: %s\n' "$*"; }
die() { printf 'bare machine: %s\n' "$*" >&2; exit 1; }

# ---- Inside: process 1 of the machine, the same after the change of root, and the same in the tests' network.

# FOLDER, GROUP, COMMAND...: run it in a new control group of the whole machine.
enter_group() {
    local folder=$1 group=$2
    shift 2
    mkdir -p "$folder"
    mount -t cgroup2 cgroup2 "$folder"
    mkdir -p "$folder/$group"
    echo 0 >"$folder/$group/cgroup.procs"
    umount "$folder"
    exec "$@"
}

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

# FROM, TO: show the files of a folder in another. Below /proc/sys a file stays what it was in another network.
bind_files() {
    local file
    mkdir "$2"
    for file in "$1"/*; do
        : >"$2/${file##*/}"
        mount --bind "$file" "$2/${file##*/}"
    done
}

# ROOT, WHEELS: a folder of pip's that the machine sees as well, or nothing.
first_process() {
    local root=$1 wheels=$2
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
    exec unshare --cgroup /root/bare_machine --rest
}

rest() {
    umount -l /mnt
    mount --make-rshared / # as systemd leaves it
    mount_sys
    if [ -d /srv/wheels ]; then
        useradd --create-home visitor
        part wheels setpriv --reuid visitor --regid visitor --clear-groups env HOME=/home/visitor \
            bash /srv/try_wheels.sh /srv/wheels /srv
        return
    fi
    cd "$checkout"
    part setup.sh ./setup.sh
    mkdir /run/neighbours
    bind_files "$neighbours/default" /run/neighbours/default
    exec unshare --net /root/bare_machine --tests
}

tests() {
    umount -R /sys # it shows the network of its mount
    mount_sys
    mount --rbind /run/neighbours "$neighbours"
    ip link set lo up
    cd "$checkout"
    if [ -e /root/command ]; then
        part "$(head -n1 /root/command)" bash /root/command
    else
        local status=0
        make test 2>&1 | keep_skipped || status=$?
        cut -f 1,3 .tools/parts >>/root/parts
        return "$status"
    fi
}

# NAME, COMMAND...: run it and note how long it took.
part() {
    local name=$1 begun=$SECONDS status=0
    shift
    "$@" || status=$?
    printf '%s\t%s\n' "$((SECONDS - begun))" "$name" >>/root/parts
    return "$status"
}

# Keeps the lines that say which tests were skipped, and shows all.
keep_skipped() {
    tee >(grep '^SKIPPED' >>/root/skipped)
}

# ---- Outside.

# COMMAND...: run it with its own mounts and processes. A job in the background would ignore Ctrl-C, and all it starts.
contain() {
    local status=0
    env --default-signal=INT,QUIT setsid setpriv --pdeathsig KILL \
        unshare --mount --uts --ipc --pid --fork --kill-child=KILL \
        "$work/bare_machine" --enter "$work/groups" "$group" "$@" </dev/null &
    contained=$!
    wait "$contained" || status=$?
    contained=
    return "$status"
}

# Processes end with their process 1, and mounts with them. Only a group without processes can be removed.
end_contained() {
    if [ -n "$contained" ]; then
        kill -KILL "$contained" 2>/dev/null || true
        wait "$contained" 2>/dev/null || true
        contained=
    fi
    mkdir -p "$work/groups"
    # shellcheck disable=SC2016 # its own arguments
    unshare --mount bash -c '
        mount -t cgroup2 cgroup2 "$1" && cd "$1" || exit 1
        for _ in $(seq 300); do
            [ -d "$2" ] || exit 0
            find "$2" -depth -type d -exec rmdir {} + 2>/dev/null
            sleep 0.1
        done
        echo "bare machine: processes are left in the control group $2" >&2
        exit 1' - "$work/groups" "$group"
}

read_limits() {
    local file
    for file in "$neighbours"/default/gc_thresh?; do
        [ ! -e "$file" ] || printf '%s %s\n' "$file" "$(cat "$file")"
    done
}

# Labs put the limits back as they go; those that were ended did not. While others run here, the limits are theirs.
restore_limits() {
    local file value
    [ -s "$work/limits" ] && [ ! -e /run/eee-testbed.neighbours ] || return 0
    while read -r file value; do
        echo "$value" >"$file"
    done <"$work/limits"
}

clean() {
    trap '' INT TERM HUP
    restore_limits
    if end_contained; then rm -rf --one-file-system "$work"; else say "left behind: $work" >&2; fi
}

# PACKAGE: unpack it into `tools`.
unpack() {
    say "fetching $1, unpacked and not installed"
    (cd "$work" && apt-get download -qq -o APT::Sandbox::User=root "$1") ||
        die "apt-get could not download $1: run \`apt-get update\`"
    dpkg-deb -x "$work/$1"_*.deb "$work/tools"
}

# Sets `debootstrap`, from its package if it is not installed.
find_debootstrap() {
    debootstrap=$(command -v debootstrap || true)
    [ -z "$debootstrap" ] || return 0
    unpack debootstrap
    export DEBOOTSTRAP_DIR=$work/tools/usr/share/debootstrap
    debootstrap=$work/tools/usr/sbin/debootstrap
}

# Sets `keyring`, the distribution's newest: a release may be signed with keys that are newer than this machine's.
find_keyring() {
    local package=debian-archive-keyring file=debian-archive-keyring.gpg
    if [ "$(. /etc/os-release && echo "$ID")" = ubuntu ]; then package=ubuntu-keyring file=ubuntu-archive-keyring.gpg; fi
    unpack "$package"
    keyring=$work/tools/usr/share/keyrings/$file
    [ -f "$keyring" ] || die "$package has no $file, which $release is checked with: install a newer $package"
}

# Sets `sources`, apt's for the release (lines of URI, suite, component), `mirror`, and `acquire`, its settings. Those of
# another release are this machine's with the other name.
read_apt() {
    local proxy
    # shellcheck disable=SC2016 # apt's variables
    sources=$(
        apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
            awk -v own="$own" -v release="$release" '($2 == own || index($2, own "-") == 1) &&
                $3 ~ /^(main|universe|contrib|non-free|restricted|multiverse)$/ {
                    print $1, release substr($2, length(own) + 1), $3
                }' | sort -u
    )
    mirror=$(awk -v release="$release" '$2 == release && $3 == "main" { print $1; exit }' <<<"$sources")
    [ -n "$mirror" ] || die "apt has no source for the component main of $own"
    acquire=$(apt-config dump Acquire | grep -v '^Acquire::IndexTargets' || true)
    proxy=$(sed -n 's/^Acquire::http::Proxy "\(.*\)";$/\1/p' <<<"$acquire")
    [ -z "$proxy" ] || export http_proxy="${http_proxy:-$proxy}"
}

# Sets `variables`, by which pip, uv, cargo and their libraries find a registry.
read_variables() {
    local entry
    variables=()
    while IFS= read -r -d '' entry; do
        case ${entry%%=*} in
            *PASSWORD* | *TOKEN* | *SECRET* | *CACHE*) ;;
            PIP_* | UV_*INDEX* | UV_FIND_LINKS | UV_NATIVE_TLS | UV_SYSTEM_CERTS | UV_HTTP_* | UV_INSECURE_HOST | \
                CARGO_HTTP_* | CARGO_NET_* | CARGO_REGISTR* | CARGO_SOURCE_* | SSL_CERT_* | *CA_BUNDLE | \
                http_proxy | https_proxy | ftp_proxy | all_proxy | no_proxy | \
                HTTP_PROXY | HTTPS_PROXY | FTP_PROXY | ALL_PROXY | NO_PROXY)
                variables+=("$entry")
                ;;
        esac
    done < <(env -0)
}

# FILE here, PATH in the root: copy it if it is there.
copy_in() {
    [ -f "$1" ] || return 0
    mkdir -p "$root$(dirname "$2")"
    cp -L "$1" "$root$2"
}

# Let the root find registries as this machine does.
configure() {
    local path number=0
    awk '{ print "deb " $1 " " $2 " " $3 }' <<<"$sources" >"$root/etc/apt/sources.list"
    printf '%s\n' "$acquire" >"$root/etc/apt/apt.conf.d/95acquire"
    # Files that settings and variables name; the bundle of all certificates is made there, by its package.
    for path in $(printf '%s\n' "$acquire" "${variables[@]}" | grep -oE '/[^"= ]+'); do
        [[ $path == /etc/ssl/certs/* ]] || copy_in "$path" "$path"
    done
    for path in /etc/pip.conf /etc/uv/uv.toml; do
        copy_in "$path" "$path"
    done
    for path in .config/pip/pip.conf .pip/pip.conf .config/uv/uv.toml; do
        copy_in "$HOME/$path" "/root/$path"
    done
    for path in config config.toml; do
        copy_in "${CARGO_HOME:-$HOME/.cargo}/$path" "/root/.cargo/$path"
    done
    while IFS= read -r path; do
        number=$((number + 1))
        copy_in "$path" "/usr/local/share/ca-certificates/machine-$number.crt"
    done < <(find /usr/local/share/ca-certificates -name '*.crt' 2>/dev/null | sort)
    if [ -x "$root/usr/sbin/update-ca-certificates" ]; then chroot "$root" update-ca-certificates >/dev/null; fi
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    {
        printf '127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n127.0.1.1 bare\n'
        cat /etc/hosts
    } >"$root/etc/hosts"
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

run_once() { # NUMBER
    local begun=$SECONDS wheels=${PIP_FIND_LINKS:-} status=0 ending=passed
    [[ $wheels == /* && -d $wheels ]] || wheels=
    cp -a "$work/base" "$root"
    configure
    git -c advice.detachedHead=false clone --quiet --no-hardlinks "$repository" "$root$checkout"
    say "run $1 of $runs, of commit $(git -C "$root$checkout" rev-parse --short HEAD)"
    cp "$work/bare_machine" "$root/root/bare_machine"
    if [ -n "$built" ]; then
        mkdir -p "$root/srv/tests"
        cp -r "$built" "$root/srv/wheels"
        cp "$repository/tests/try_wheels.sh" "$root/srv"
        cp -r "$repository/tests/__init__.py" "$repository/tests/support" "$root/srv/tests"
        chmod -R a+rX "$root/srv"
    fi
    [ -z "$command" ] || printf '%s\n' "$command" >"$root/root/command"
    [ -e /run/eee-testbed.neighbours ] || read_limits >"$work/limits"
    contain env -i "${variables[@]}" HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        "$work/bare_machine" --first-process "$root" "$wheels" || status=$?
    report
    [ "$status" -eq 0 ] || ending="failed with status $status"
    say "run $1 of $runs: $ending, $((SECONDS - begun)) s"
    end_contained
    [ "$status" -eq 0 ] || exit 1
    rm -rf --one-file-system "$root"
}

main() {
    local tool early='' begun number
    runs=1 command='' built='' release='' keyring='' parent=${TMPDIR:-/var/tmp} contained='' group=bare-machine-$$
    while [ $# -gt 0 ]; do
        [ $# -ge 2 ] || die "$1 is unknown or lacks its value: see the head of $0"
        case $1 in
            --runs) runs=$2 ;;
            --command) command=$2 ;;
            --wheels) built=$2 ;;
            --folder) parent=$2 ;;
            --release) release=$2 ;;
            *) die "$1 is unknown: see the head of $0" ;;
        esac
        shift 2
    done
    [[ $runs =~ ^[1-9][0-9]*$ ]] || die "--runs takes a number from 1, not $runs"
    [ -z "$built" ] || compgen -G "$built/*.whl" >/dev/null || die "$built has no wheels: run \`make dist\`"
    [ "$(id -u)" -eq 0 ] || die "this makes mounts and device nodes: run it as root"
    [ -c /dev/net/tun ] || die "/dev/net/tun is missing, and the tests need it: load it with \`modprobe tun\`"
    for tool in apt-get dpkg-deb git wget gpgv unshare setpriv pivot_root; do
        command -v "$tool" >/dev/null || die "$tool is missing here: install it"
    done
    repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
    own=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    [ -n "$own" ] || die "/etc/os-release names no release: Debian or Ubuntu is needed"
    release=${release:-$own}
    read_apt
    read_variables

    work=$(mktemp -d -p "$parent" bare-machine.XXXXXX)
    root=$work/root
    trap clean EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
    cp "${BASH_SOURCE[0]}" "$work/bare_machine"
    chmod 755 "$work" "$work/bare_machine"
    find_debootstrap
    [ "$release" = "$own" ] || find_keyring
    say "making a root of $release"
    begun=$SECONDS
    [[ $mirror != https:* ]] || early=ca-certificates
    [ -z "$built" ] || early=ca-certificates,python3,python3-venv
    DEBIAN_FRONTEND=noninteractive contain \
        "$debootstrap" --variant=minbase ${keyring:+"--keyring=$keyring"} ${early:+"--include=$early"} \
        "$release" "$work/base" "$mirror" \
        >"$work/debootstrap.log" 2>&1 || { tail -n 20 "$work/debootstrap.log" >&2; die "debootstrap failed"; }
    say "the root took $((SECONDS - begun)) s"
    for number in $(seq "$runs"); do
        run_once "$number"
    done
    say "$runs of $runs runs passed"
}

case "${1:-}" in
    --enter) shift; enter_group "$@" ;;
    --first-process) shift; first_process "$@" ;;
    --rest) rest ;;
    --tests) tests ;;
    *) main "$@" ;;
esac
exit
