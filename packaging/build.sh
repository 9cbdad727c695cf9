#!/usr/bin/env bash
# Builds dist/: wheels and source distributions of both packages, eee-testbed and its engine. `make dist` runs it.
#
# The engine's wheels need no compiler where they are installed: one for x86-64 and, if the Rust library of that target is
# to be had, one for aarch64; for any Python from 3.11 (abi3) and any glibc from 2.28. Zig links them, so that the glibc
# of this machine does not matter. The x86-64 wheels are built from the source distributions, which proves these.
set -euo pipefail
cd "$(dirname "$0")/.."

platform=manylinux_2_28
tools=.tools/dist
say() { printf 'dist: %s\n' "$*"; }
die() { printf 'dist: %s\n' "$*" >&2; exit 1; }

PATH="$PWD/$tools/bin:$HOME/.cargo/bin:$PWD/.tools/bin:$PATH"
command -v uv >/dev/null || die "uv is missing: run ./setup.sh"
command -v cargo >/dev/null || die "cargo is missing: run ./setup.sh"

# NAME of a target: use a Rust library for it; `rust` is then the compiler that has it.
find_library() {
    rust=$(command -v rustc)
    [ ! -d "$(rustc --print sysroot)/lib/rustlib/$1" ] || return 0
    rust=$PWD/.tools/rust-arm64/rustc
    packaging/fetch_arm64_library.sh >/dev/null 2>&1
}

# TARGET, FOLDER with the engine's sources: build the wheel and check what it needs.
build_engine() {
    local target=$1 folder=$2 wheel
    say "building the engine for $target (some minutes the first time)"
    (cd "$folder" && RUSTC=$rust CARGO_TARGET_DIR="$root/engine/target/dist/$target" maturin build --release --locked \
        --zig --target "$target" --compatibility "$platform" --out "$root/dist" 2>"$root/$tools/log") || die "the build failed: see $tools/log"
    wheel=$(echo "$root"/dist/eee_engine-*-"${platform}_${target%%-*}".whl)
    auditwheel show "$wheel" | tr '\n' ' ' | grep -q "platform tag: \"${platform}_${target%%-*}\"" ||
        die "auditwheel finds that ${wheel##*/} needs more than its name says: \`$tools/bin/auditwheel show $wheel\`"
}

root=$PWD
[ -x "$tools/bin/python" ] || uv venv --quiet "$tools"
uv pip install --quiet --python "$tools/bin/python" --requirements packaging/requirements.txt
rm -rf dist
mkdir dist

say "building eee-testbed"
uv build --quiet --out-dir dist .   # the wheel from the source distribution

sources=$root/engine/target/dist/sources
rm -rf "$sources"
mkdir -p "$sources"
(cd engine && maturin sdist --out "$root/dist" >"$root/$tools/log" 2>&1) || die "the build failed: see $tools/log"
tar -xmzf dist/eee_engine-*.tar.gz -C "$sources" --strip-components 1 # now: cargo compares times
find_library x86_64-unknown-linux-gnu || die "this compiler has no library for x86-64: run ./setup.sh"
build_engine x86_64-unknown-linux-gnu "$sources"
if find_library aarch64-unknown-linux-gnu; then
    build_engine aarch64-unknown-linux-gnu "$sources"
else
    say "no wheel for aarch64: \`rustup target add aarch64-unknown-linux-gnu\`, or a Debian 12 with deb.debian.org's sources"
fi
rm -f dist/.gitignore
(cd dist && sha256sum -- *.whl *.tar.gz >SHA256SUMS)
ls -l dist
