# Two hosts, `one` and `two`, that share a folder by NFS, made of the guest's namespaces: each with a network, a host name and
# a boot id of its own, and two mounts of the one export, /shared and /again. The server is the guest itself.
set -e
[ ! -e /run/two.ready ] || exit 0
modprobe nfsd; modprobe nfsv4; modprobe veth
mkdir -p /export /shared /again /var/lib/nfs/v4recovery
mount -t tmpfs memory /export
mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd
echo 10 >/proc/fs/nfsd/nfsv4leasetime
echo 10 >/proc/fs/nfsd/nfsv4gracetime
: >/var/lib/nfs/etab
exportfs -o rw,no_root_squash,no_subtree_check,insecure,fsid=0 '*:/export'
rpc.nfsd --no-nfs-version 3 --no-udp 4
rpc.mountd --no-nfs-version 3
echo Y >/proc/fs/nfsd/v4_end_grace 2>/dev/null || true  # nobody was here before; refused where that is known
number=0
for host in one two; do
    number=$((number + 1))
    unshare --mount --net --uts --propagation private \
        sh -c "hostname $host; echo ready >/run/$host.ready; exec sleep 1000000" >/dev/null 2>&1 </dev/null &
    pid=$!
    echo "$pid" >"/run/$host.pid"
    while [ ! -e "/run/$host.ready" ]; do sleep 0.1; done
    ip link add "s$number" type veth peer name "c$number" netns "$pid"
    ip address add "10.7.$number.1/24" dev "s$number"
    ip link set "s$number" up
    cat /proc/sys/kernel/random/uuid >"/run/$host.boot_id"
    nsenter -t "$pid" --mount --net --uts sh -ec "
        ip link set lo up
        ip address add 10.7.$number.2/24 dev c$number
        ip link set c$number up
        mount --bind /run/$host.boot_id /proc/sys/kernel/random/boot_id
        for place in /shared /again; do mount -t nfs4 -o vers=4.2,nosharecache 10.7.$number.1:/ \$place; done"
done
