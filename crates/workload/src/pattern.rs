//! The places of the I/Os in the span: one file per pattern.

pub(crate) mod bands;
pub(crate) mod one_pass;
pub(crate) mod scatter;
pub(crate) mod segments;
pub(crate) mod sequential;
pub(crate) mod shuffled;
pub(crate) mod stepped;
pub(crate) mod zipf;
