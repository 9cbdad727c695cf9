//! One program for all integration tests of the crate: it is built and linked once.

mod drawn;
mod flow_control;
mod isolation;
mod lab;
mod laws;
mod links;
mod lldp;
mod lpi_fabric;
mod lpi_laws;
mod lpi_link;
mod lpi_phy;
mod lpi_poisson;
mod lpi_reference;
mod multitree;
mod poisson;
mod poisson_path;
mod steps;
mod storm;
mod switching;
mod textbook;
mod timetable;
mod trees;
