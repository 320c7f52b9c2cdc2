//! The Python face of the engine: classes, errors, the detached wait loop, arrays.
