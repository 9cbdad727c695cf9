#!/usr/bin/env bash
# Installs what a Debian or Ubuntu machine lacks for this project and says what it does: Debian packages, a Rust
# compiler, uv, the Python environment (.venv) with the engine built into it. Quick when nothing is missing.
#
#   ./setup.sh                  all that virtual labs, checks and tests need
#   ./setup.sh --rack           only what a controller of hardware needs: no MPI, no kernel, no benchmarks, no linters
#   ./setup.sh --rack DIST      the same from the wheels in the folder DIST (`make dist`), without a compiler
set -euo pipefail
cd "$(dirname "$0")"

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

rack='' wheels=''
case "${1:-}" in
    '') ;;
    --rack) rack=1 wheels=${2:-} ;;
    *) die "$1 is unknown: see the head of setup.sh" ;;
esac
[ -z "$wheels" ] || compgen -G "$wheels/eee_testbed-*.whl" >/dev/null || die "$wheels has no wheels: run \`make dist\` there"

command -v apt-get >/dev/null || die "this machine has no apt-get; install the tools listed in setup.sh by hand (Debian 12, Ubuntu 24.04 or newer do it themselves)"

packages=(
    build-essential pkg-config python3 python3-dev python3-venv        # to build
    ca-certificates                                        # to download over TLS
    openssh-server openssh-client openmpi-bin              # what runs on the virtual hosts
    libopenmpi-dev gfortran                                # mpicc, mpif90
    iproute2 iputils-ping ethtool tcpdump iperf3 util-linux procps
    snmp sshpass jq git                                    # what the tests and a visitor use
    openvswitch-switch prometheus-snmp-exporter            # what the speed benchmarks compare with
    prometheus victoria-metrics                            # what the exporters are tested against
    libcap2-bin python3-apt gnupg                          # the playbook for nodes, tried on virtual hosts
    qemu-system-x86 busybox-static                         # Linux switches on Debian's own kernel, for the tests
    python3-mpi4py                                         # our MPI programs, on the virtual hosts
)
rack_packages=(
    python3 python3-venv ca-certificates                   # to install
    openssh-client iputils-ping                            # to reach nodes
)
optional=(hpcc netpipe-openmpi)                            # MPI programs of others, 1.5 MB

apt_install() {
    [ "$(id -u)" -eq 0 ] || die "Debian packages are missing ($*): run this once as root"
    say "installing Debian packages: $*"
    if [ -z "${apt_updated:-}" ]; then
        apt-get update -qq
        apt_updated=1
    fi
    # Installed for their programs: no service is to be started (or left listening) by this.
    local policy=/usr/sbin/policy-rc.d made=
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod 755 "$policy"
        made=1
    fi
    local status=0
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null || status=$?
    [ -z "$made" ] || rm -f "$policy"
    [ "$status" -eq 0 ] || die "apt-get could not install: $*"
}

if [ -n "$rack" ]; then
    packages=("${rack_packages[@]}")
    [ -n "$wheels" ] || packages+=(build-essential pkg-config python3-dev)
    optional=()
fi
missing=()
for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing+=("$package")
done
[ "${#missing[@]}" -eq 0 ] || apt_install "${missing[@]}"
for package in "${optional[@]}"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" != installed ] || continue
    if [ "$(id -u)" -eq 0 ] && [ -z "${apt_updated:-}" ]; then
        apt-get update -qq
        apt_updated=1
    fi
    if [ "$(id -u)" -eq 0 ] && [ -n "$(apt-cache policy "$package" 2>/dev/null)" ]; then
        apt_install "$package"
    else
        say "no $package: \`eeectl bench\` will miss it on the nodes"
    fi
done

# The engine's edition needs Rust 1.85. Debian 12 carries a newer compiler than its default one for its browsers.
rust_ok() {
    local have
    have=$(cargo --version 2>/dev/null | awk '{print $2}') || return 1
    [ -n "$have" ] && [ "$(printf '1.85.0\n%s\n' "$have" | sort -V | head -n1)" = 1.85.0 ]
}
PATH="$HOME/.cargo/bin:$PATH"
# Each line: the compiler, cargo, and what `make check` lints with.
rust_packages=(
    "rustc-web cargo-web rustfmt-web rust-web-clippy"
    "rustc-1.85 cargo-1.85 rustfmt-1.85 rust-1.85-clippy"
    "rustc cargo rustfmt rust-clippy"
)
if [ -z "$wheels" ] && ! rust_ok; then
    [ -n "${apt_updated:-}" ] || { [ "$(id -u)" -ne 0 ] || { apt-get update -qq; apt_updated=1; }; }
    for names in "${rust_packages[@]}"; do
        # shellcheck disable=SC2086 # several package names
        if apt-cache show $names >/dev/null 2>&1; then
            # shellcheck disable=SC2086
            apt_install $names
            rust_ok && break
        fi
    done
    rust_ok || die "no Rust compiler of version 1.85 or newer: install one (rustup.rs) and run this again"
fi

# A machine that has the compiler may lack what lints: Debian's come in the same version from the same source.
if [ -z "$rack" ] && ! { cargo clippy --version && cargo fmt --version; } >/dev/null 2>&1; then
    lints=
    for names in "${rust_packages[@]}"; do
        read -r compiler _ lints <<<"$names"
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$compiler" 2>/dev/null || true)" != installed ] || break
        lints=
    done
    # shellcheck disable=SC2086 # several package names
    if [ -n "$lints" ]; then apt_install $lints; else say "no clippy or rustfmt: \`rustup component add clippy rustfmt\`, or \`make check\` fails"; fi
fi

if command -v uv >/dev/null && uv --version >/dev/null 2>&1; then
    uv=uv
else
    uv=.tools/bin/uv
    if [ ! -x "$uv" ]; then
        say "installing uv into .tools"
        python3 -m venv .tools
        .tools/bin/pip install -q uv
    fi
fi

if [ -n "$wheels" ]; then
    say "making the Python environment .venv from the wheels in $wheels"
    [ -x .venv/bin/python ] || "$uv" venv --quiet .venv
    "$uv" pip install --quiet --python .venv --find-links "$wheels" --reinstall-package eee-testbed \
        --reinstall-package eee-engine eee-testbed
    say "ready: .venv/bin/eeectl"
    exit
fi
# A source distribution lacks the links that packages of a checkout are found by.
sed -n 's|^\([a-z]*\) = "eee_testbed/\1"$|\1|p' pyproject.toml | while read -r name; do
    [ -e "eee_testbed/$name" ] || ln -s "../$name" "eee_testbed/$name"
done
if ! (cd engine && cargo fetch --locked --offline --quiet 2>/dev/null); then
    say "fetching the engine's crates"
    (cd engine && cargo fetch --locked --quiet)
fi
if [ -n "$rack" ]; then
    say "making the Python environment .venv and building the engine (a minute or two the first time)"
    "$uv" sync --locked --no-dev --quiet
    say "ready: .venv/bin/eeectl"
    exit
fi
if ! "$uv" sync --locked --all-extras --check >/dev/null 2>&1; then
    say "making the Python environment .venv and building the engine (a minute or two the first time)"
    "$uv" sync --locked --all-extras --quiet
fi
# What `make site` and the tests of the pages need, in an environment of its own.
if ! UV_PROJECT_ENVIRONMENT=.tools/docs "$uv" sync --locked --only-group docs --check >/dev/null 2>&1; then
    say "making the environment of the documentation's pages in .tools/docs"
    UV_PROJECT_ENVIRONMENT=.tools/docs "$uv" sync --locked --only-group docs --quiet
fi
# Debian's kernel for the tests of Linux switches: unpacked into .tools, not installed.
if ! compgen -G ".tools/kernel/boot/vmlinuz-*" >/dev/null; then
    say "fetching Debian's cloud kernel into .tools/kernel"
    tests/support/qemu/fetch_kernel.sh >/dev/null || say "no kernel: the tests of Linux switches on it will be skipped"
fi
if [ ! -x .tools/chrony/usr/sbin/chronyd ]; then
    say "fetching chrony into .tools/chrony"
    tests/support/fetch_chrony.sh >/dev/null || say "no chrony: its test will be skipped"
fi
say "ready"
