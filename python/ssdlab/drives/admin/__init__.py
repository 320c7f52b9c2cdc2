"""Reports of a drive: admin pages by raw command, decoded per specification.

Only `port` calls the kernel; `nvme`, `ata` and `scsi` are pure: bytes in, frozen records out.
"""
