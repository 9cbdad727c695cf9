#!/usr/bin/env bash
# Fetches Debian 12's Rust 1.85 and its library for arm64 into .tools/rust-arm64, unpacked and not installed. apt's own
# lists stay as they are. Quick when it is there already.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$PWD/.tools/rust-arm64
[ ! -x "$folder/rustc" ] || exit 0
rm -rf "$folder"
mkdir -p "$folder"/apt/{lists/partial,cache/archives/partial}
apt=(apt-get -qq -o "Dir::State::lists=$folder/apt/lists" -o "Dir::Cache=$folder/apt/cache" -o APT::Sandbox::User=root
    -o Acquire::Languages=none -o APT::Architectures::=amd64 -o APT::Architectures::=arm64)
"${apt[@]}" update
(cd "$folder" && "${apt[@]}" download 'rustc-web:amd64=1.85*' 'libstd-rust-web-dev:amd64=1.85*' \
    'libstd-rust-web-1.85:amd64=1.85*' libllvm19:amd64 'libstd-rust-web-dev:arm64=1.85*')
for package in "$folder"/*.deb; do
    dpkg-deb -x "$package" "$folder"
done
rm -rf "$folder"/*.deb "$folder/apt"
# It looks for its own library where it would be installed.
cat >"$folder/rustc" <<'EOF'
#!/bin/sh
here=$(dirname "$0")
LD_LIBRARY_PATH=$here/usr/lib/x86_64-linux-gnu exec "$here/usr/bin/rustc" "$@"
EOF
chmod 755 "$folder/rustc"
