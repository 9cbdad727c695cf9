"""A Linux switch's startup configuration: a script that puts the bridge back to what is running now. Pure.

Linux has no startup configuration of its own, and ifupdown2, systemd-networkd and NetworkManager each keep theirs
elsewhere; none of them can say that a port is untagged in many VLANs. So saving writes a shell script of the very
commands that the driver sends, /etc/eee-testbed/BRIDGE.sh, which the machine's administrator runs once the bridge
and its ports exist: in /etc/network/interfaces a line `post-up /etc/eee-testbed/br0.sh` below the bridge, or a
systemd unit after network.target. Spanning tree is on while the script works, so that nothing circles meanwhile.

Kept: VLANs, bonds, static entries, which ports are up, EEE on or off, flow control, spanning tree. A fixed speed and a
hold time are not: ports negotiate after a restart until they are set anew.
"""

import shlex

FOLDER = "/etc/eee-testbed"

_SCRIPT = r"""
set -e
b=@BRIDGE@
f=@FOLDER@/$b.sh
mkdir -p @FOLDER@
vlans() {
    bridge vlan show dev "$1" | awk -v dev="$1" -v self="$2" '
        NR == 1 { next }
        { i = ($0 ~ /^[^ \t]/) ? 2 : 1 }
        NF >= i {
            flags = ""
            for (j = i + 1; j <= NF; j++) {
                if ($j == "PVID") flags = flags " pvid"
                if ($j == "Untagged") flags = flags " untagged"
            }
            print "bridge vlan add dev " dev " vid " $i flags self
        }'
}
{
    echo '#!/bin/sh'
    echo "ip link set dev $b type bridge stp_state 1 vlan_filtering 1 vlan_default_pvid 0"
    for p in $(ls "/sys/class/net/$b/brif"); do
        [ -d "/sys/class/net/$p/bonding" ] || continue
        kind="type bond mode $(cut -d' ' -f1 "/sys/class/net/$p/bonding/mode")"
        kind="$kind xmit_hash_policy $(cut -d' ' -f1 "/sys/class/net/$p/bonding/xmit_hash_policy")"
        kind="$kind miimon $(cat "/sys/class/net/$p/bonding/miimon")"
        echo "ip link show dev $p >/dev/null 2>&1 || ip link add $p $kind"
        echo "ip link set dev $p master $b"
        for s in $(cat "/sys/class/net/$p/bonding/slaves"); do
            echo "ip -o link show dev $s | grep -q ' master $p ' ||"
            echo "    { ip link set dev $s down; ip link set dev $s nomaster; ip link set dev $s master $p; }"
        done
    done
    for p in $(ls "/sys/class/net/$b/brif"); do
        echo "bridge vlan del dev $p vid 1-4094"
        vlans "$p" ""
        ethtool --show-eee "$p" 2>/dev/null | awk -v p="$p" '
            /EEE status: enabled/ { print "ethtool --set-eee " p " eee on" }
            /EEE status: disabled/ { print "ethtool --set-eee " p " eee off" }'
        ethtool -a "$p" 2>/dev/null | awk -v p="$p" '
            $1 == "RX:" { rx = $2 }
            $1 == "TX:" { tx = $2 }
            END { if (rx != "") print "ethtool -A " p " rx " rx " tx " tx }'
    done
    echo "bridge vlan del dev $b vid 1-4094 self"
    vlans "$b" " self"
    bridge fdb show br "$b" state static | awk '
        {
            dev = vid = ""
            for (i = 2; i < NF; i++) {
                if ($i == "dev") dev = $(i + 1)
                if ($i == "vlan") vid = $(i + 1)
            }
            if (vid != "") print "bridge fdb replace " $1 " dev " dev " master static vlan " vid
        }'
    for p in $(ls "/sys/class/net/$b/brif") $(cat "/sys/class/net/$b/brif"/*/bonding/slaves 2>/dev/null); do
        if [ $(( $(cat "/sys/class/net/$p/flags") & 1 )) = 1 ]; then up=up; else up=down; fi
        echo "ip link set dev $p $up"
    done
    echo "ip link set dev $b type bridge stp_state $(cat "/sys/class/net/$b/bridge/stp_state")"
} >"$f.new"
chmod 755 "$f.new"
sync
mv "$f.new" "$f"
"""


def save_command(bridge: str) -> str:
    """A shell command that writes the script of a bridge, whole or not at all."""
    script = _SCRIPT.replace("@BRIDGE@", shlex.quote(bridge)).replace("@FOLDER@", FOLDER)
    return f"sh -c {shlex.quote(script.strip())}"
