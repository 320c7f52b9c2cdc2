//! Real drives: one thread per synchronous I/O, or io_uring at any depth.
