#!/bin/sh
# Process 1 of the engine's namespaces: makes a root file system the root and waits. Its only argument is the folder. A
# plain chroot would not do: `docker exec` and every health check look for the root of the mount namespace.
set -eu
root=$1
mount --make-rprivate /
ip link set lo up
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount --rbind /sys/fs/cgroup "$root/sys/fs/cgroup"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
mkdir -p "$root/.old"
cd "$root"
pivot_root . .old
cd /
umount -l /.old
sleep infinity &
echo ready
# It becomes the parent of every orphaned process.
while :; do wait || :; done
