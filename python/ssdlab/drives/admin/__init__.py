"""Admin commands to a drive, and decoders of its replies.

Only `port` calls the kernel. `nvme`, `ata`, `scsi` and `tcg` are pure: bytes in, frozen records out.
"""
