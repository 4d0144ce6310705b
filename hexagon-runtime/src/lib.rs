//! hexagon-runtime
