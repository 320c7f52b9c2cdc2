"""What a drive itself says: admin pages by raw command, decoded per specification.

`port` is the one seam to the kernel; `nvme`, `ata` and `scsi` are pure: bytes in, frozen records out.
"""
