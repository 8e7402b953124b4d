//! Scheduling choices as printable commands.
