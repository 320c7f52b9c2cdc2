"""What tests do to this machine: make devices, limit them, and watch them from the kernel's side."""
