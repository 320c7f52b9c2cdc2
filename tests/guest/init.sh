#!/bin/busybox sh
# First process of the guest: the host's files read-only under a memory overlay, then commands from a shared folder.
# /run/guest/NAME.cmd is run as soon as it appears, each beside the others: NAME.out, NAME.err, and at its end NAME.rc.
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
    cd /run/guest
    # A line on its serial port tells of an order: to look for them all the time takes much of an emulated CPU.
    for bell in ttyS1 ttyS2; do stty -F /dev/$bell raw -echo; done
    exec 9</dev/ttyS1
    cut -d" " -f1 /proc/uptime >booted.draft; mv booted.draft booted
    while [ ! -e stop ]; do
        for order in *.cmd; do
            [ -e "$order" ] || continue
            name=${order%.cmd}; mv "$order" "$name.run"
            ( cd /root; sh "/run/guest/$name.run" >"/run/guest/$name.out" 2>"/run/guest/$name.err" </dev/null
              echo $? >"/run/guest/$name.rc.draft"; mv "/run/guest/$name.rc.draft" "/run/guest/$name.rc" ) &
        done
        read -r -t 2 -u 9
    done
    busybox poweroff -f'
