#!/bin/busybox sh
# First process of the guest: the host's files read-only under a memory overlay, then the program that the host has put
# into the shared folder: `serve` starts server.py, which takes orders from there.
bb=/bin/busybox
$bb mkdir -p /proc /sys /dev /lower /rw /new
$bb mount -t proc proc /proc
$bb mount -t sysfs sys /sys
$bb mount -t devtmpfs dev /dev
while read -r module; do $bb insmod "/$module" || echo "insmod $module failed"; done </order
shared="trans=virtio,version=9p2000.L,msize=524288"
$bb mount -t 9p -o "$shared,ro,cache=loose" host /lower || { echo "no host files"; $bb poweroff -f; }
$bb mount -t tmpfs -o size=60% memory /rw
$bb mkdir -p /rw/up /rw/work
$bb mount -t overlay -o lowerdir=/lower,upperdir=/rw/up,workdir=/rw/work overlay /new || $bb poweroff -f
for folder in proc sys dev; do $bb mount --move "/$folder" "/new/$folder"; done
exec $bb switch_root /new /bin/bash -c '
    export PATH=/run/tools:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
    shared="trans=virtio,version=9p2000.L,msize=524288"
    mount -t tmpfs memory /run; mkdir -p /run/guest /run/tools /run/lock /dev/shm /dev/pts /tmp /lib/modules
    # A checkout may lie in /tmp: what is there stays reachable beneath /run/host.
    mkdir -p /run/host/tmp; mount --bind /tmp /run/host/tmp
    mount -t tmpfs memory /dev/shm; mount -t tmpfs memory /tmp; mount -t devpts pts /dev/pts
    mount -t 9p -o "$shared" orders /run/guest
    mount -t 9p -o "$shared,ro,cache=loose" modules /lib/modules
    mount -t tracefs trace /sys/kernel/tracing 2>/dev/null
    for applet in modprobe; do printf "#!/bin/sh\nexec busybox $applet \"\$@\"\n" >/run/tools/$applet; done
    chmod +x /run/tools/*
    ip link set lo up 2>/dev/null
    dmesg -n 1
    stty -F /dev/ttyS1 raw -echo
    cd /root
    sh /run/guest/serve >/run/guest/served 2>&1 </dev/null
    busybox poweroff -f'
