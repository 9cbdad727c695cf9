#!/bin/busybox sh
# The first process of the virtual machine: modules, a network that the machine outside reaches, one SSH server.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
/bin/busybox --install -s /bin
rm /bin/ip
ln -sf /usr/bin/dash /bin/sh # busybox's own would take its own ip for iproute2's
mkdir -p /proc /sys /dev /tmp
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mkdir -p /dev/pts /run/sshd /run/netns
mount -t devpts none /dev/pts
while read -r module; do insmod "/modules/$module.ko"; done </modules/order
ip link set lo up
ip address add 10.0.2.15/24 dev eth0
ip link set eth0 up
chmod 700 /root /root/.ssh
chmod 600 /root/.ssh/authorized_keys /etc/ssh/host_key
/usr/sbin/sshd -D -f /etc/ssh/sshd_config &
until grep -q ' 00000000:0016 ' /proc/net/tcp; do usleep 20000; done
echo "GUEST ready"
exec sleep 1000000
