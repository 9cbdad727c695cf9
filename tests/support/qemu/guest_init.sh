#!/usr/bin/dash
# The first process of the virtual machine: modules, namespaces with a management network that is reached from outside,
# and an SSH server in each. /namespaces lists them with their addresses.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
/bin/busybox --install -s /bin
rm /bin/ip
ln -sf /usr/bin/dash /bin/sh # busybox's shell would take its own ip for iproute2's
mkdir -p /proc /sys /dev /tmp
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mkdir -p /dev/pts /run/sshd /run/netns
mount -t devpts none /dev/pts
while read -r module; do insmod "/modules/$module.ko"; done </modules/order
chmod 700 /root /root/.ssh
chmod 600 /root/.ssh/authorized_keys /etc/ssh/host_key
ip link add mgmt type bridge
ip link set mgmt up
ip link set eth0 master mgmt up
serve() { # namespace address
    ip -n "$1" link set lo up
    ip -n "$1" address add "$2/24" dev mgmt0
    ip -n "$1" link set mgmt0 up
    ip netns exec "$1" /usr/sbin/sshd -D -f /etc/ssh/sshd_config &
}
while read -r name address; do
    ip netns add "$name"
    ip link add "to-$name" type veth peer name mgmt0 netns "$name"
    ip link set "to-$name" master mgmt up
    serve "$name" "$address"
done </namespaces
while read -r name _; do
    ip netns exec "$name" sh -c "until grep -q ' 00000000:0016 ' /proc/net/tcp; do usleep 20000; done"
done </namespaces
echo "GUEST ready"
exec sleep 1000000
