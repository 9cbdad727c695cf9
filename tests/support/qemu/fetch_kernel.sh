#!/usr/bin/env bash
# Fetches Debian's cloud kernel into .tools/kernel, unpacked and not installed: no boot loader is touched. Prints
# where it is. Quick when it is there already.
set -euo pipefail
cd "$(dirname "$0")/../../.."
folder=.tools/kernel
if ! compgen -G "$folder/boot/vmlinuz-*" >/dev/null; then
    package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n1)
    [ -n "$package" ] || { echo "fetch_kernel: apt knows no linux-image-cloud-amd64 (Debian on amd64 does)" >&2; exit 1; }
    mkdir -p "$folder"
    rm -f "$folder"/*.deb
    (cd "$folder" && apt-get download -qq -o APT::Sandbox::User=root "$package")
    dpkg-deb -x "$folder"/*.deb "$folder"
    rm -f "$folder"/*.deb
fi
echo "$PWD/$folder"
