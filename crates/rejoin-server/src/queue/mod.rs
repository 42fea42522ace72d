//! Runs that wait, and when each begins.
