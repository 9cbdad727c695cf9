//! Collective calls as steps.
