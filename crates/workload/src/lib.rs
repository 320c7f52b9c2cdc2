//! What I/O is asked for: operations, offsets, sizes and arrival times. No I/O is done here.
