#!/usr/bin/env bash
# Fetches Debian 12's Rust 1.85, the oldest compiler that setup.sh takes, into .tools/rust-1.85, unpacked and not
# installed, so that `oldest_rust.sh` notices code that needs a newer one. Quick when it is there already.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=.tools/rust-1.85
if [ ! -x "$folder/rustc" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    (cd "$folder" && apt-get download -qq -o APT::Sandbox::User=root \
        'rustc-web=1.85*' 'libstd-rust-web-dev=1.85*' 'libstd-rust-web-1.85=1.85*' libllvm19)
    for package in "$folder"/*.deb; do
        dpkg-deb -x "$package" "$folder"
    done
    rm -f "$folder"/*.deb
    # It looks for its own library where it would be installed.
    cat >"$folder/rustc" <<'EOF'
#!/bin/sh
here=$(dirname "$0")
LD_LIBRARY_PATH=$(echo "$here"/usr/lib/*-linux-gnu) exec "$here/usr/bin/rustc" "$@"
EOF
    chmod 755 "$folder/rustc"
fi
