"""What tests do to this machine: make and remove devices, limit them, and watch them from the kernel's side."""
