//! Identifiers of ports, switches and cables.

/// A port: of a switch, a LAG of a switch, or a host's NIC. Numbered from 0 in order of creation; the ports of a
/// switch are consecutive and its LAGs follow them.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u32);

/// A switch, numbered from 0 in order of creation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SwitchId(pub u32);

/// A cable, numbered from 0 in order of creation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CableId(pub u32);
