//! Which algorithm a library takes.

use super::{Algorithm, Collective, Kind, Library, hierarchical, rules, tables, tracer};

/// The library's choice for a call with at least two ranks. A few algorithms fall back on others where they do not apply:
/// [`Algorithm`] says which.
pub fn algorithm(library: Library, collective: &Collective) -> Algorithm {
    match library {
        Library::OpenMpi40 => rules::open_mpi_40(collective),
        Library::OpenMpi41 => tables::open_mpi_41(collective),
        Library::OpenMpi50 if hierarchical::applies(collective) => Algorithm::Hierarchical,
        Library::OpenMpi50 => tables::open_mpi_41(collective),
        Library::Tracer => tracer::choice(&tracer::mean(collective)),
        Library::Linear => linear(collective),
    }
}

fn linear(collective: &Collective) -> Algorithm {
    match collective.kind {
        // Its ranks cannot send from the buffer that they receive into.
        Kind::Alltoall | Kind::Alltoallv if collective.in_place => Algorithm::InPlace,
        _ => Algorithm::Linear,
    }
}
