//! The variables of one SNMP agent: plain entries, the groups of a switch, and the table made of both.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fabric::FabricError;
use fabric::time::PS_PER_NS;
use snmp::identity::Own;
use snmp::{Table, TableBuilder, Value, Variables};

use crate::core::Core;
use crate::mib::group::{Layout, SwitchMib};
use crate::os::clock::clock_ns;

/// Maximum age of a table from which a request is answered.
const TABLE_AGE_MAX: Duration = Duration::from_millis(100);
/// The same for VLANs, the forwarding database and neighbours, unless a change was reported.
const BRIDGE_TABLES_AGE_MAX: Duration = Duration::from_secs(1);
const NS_PER_TICK: u64 = 10_000_000;

/// A plain entry.
#[derive(Clone, Debug)]
pub enum Plain {
    /// A value that stays until it is replaced.
    Fixed(Value<'static>),
    /// TimeTicks since a moment of CLOCK_MONOTONIC: sysUpTime.
    Uptime {
        /// When it was 0.
        zero_ns: u64,
    },
}

/// All variables of one agent.
#[derive(Default)]
pub struct MibView {
    plain: BTreeMap<Vec<u32>, Plain>,
    served: Option<(Arc<Core>, SwitchMib)>,
    table: Table,
    made: Option<Instant>,
    bridge_tables_made: Option<Instant>,
    zero_ns: u64,
}

impl MibView {
    /// Serve a switch of an engine.
    ///
    /// # Errors
    /// The engine does not have a port or switch of the layout.
    pub fn serve(&mut self, core: Arc<Core>, layout: Layout) -> Result<(), FabricError> {
        let mib = core.with(|fabric, now| SwitchMib::new(layout, fabric, now))?;
        self.served = Some((core, mib));
        self.changed();
        Ok(())
    }

    /// The agent starts: without a plain sysUpTime, the times of the served groups count from here.
    pub fn started(&mut self) {
        self.zero_ns = clock_ns(libc::CLOCK_MONOTONIC);
        if let Some((_, mib)) = &mut self.served {
            mib.copier().booted();
        }
        self.changed();
    }

    /// Insert or replace plain entries.
    pub fn put(&mut self, entries: Vec<(Vec<u32>, Plain)>) {
        self.plain.extend(entries);
        self.made = None;
    }

    /// Remove plain entries at or below a name.
    pub fn remove(&mut self, prefix: &[u32]) {
        self.plain.retain(|name, _| !name.starts_with(prefix));
        self.made = None;
    }

    /// Rebuild the table at the next request.
    pub fn changed(&mut self) {
        self.made = None;
        self.bridge_tables_made = None;
    }

    fn remake(&mut self, own: &Own) {
        let now_ns = clock_ns(libc::CLOCK_MONOTONIC);
        let up_ticks = |zero_ns: u64| (now_ns.saturating_sub(zero_ns) / NS_PER_TICK) as u32;
        let zero_ns = self.plain.values().find_map(|plain| match plain {
            Plain::Uptime { zero_ns } => Some(*zero_ns),
            Plain::Fixed(_) => None,
        });
        let mut builder = TableBuilder::like(&self.table);
        if let Some((core, mib)) = &mut self.served {
            let bridge_tables_due = is_older(self.bridge_tables_made, BRIDGE_TABLES_AGE_MAX);
            if bridge_tables_due {
                self.bridge_tables_made = Some(Instant::now());
            }
            // `serve` has checked this layout, and a fabric keeps its ports and switches. The lock is held twice,
            // briefly. sysUpTime is read where engine time is: a wait for the lock between the two would move
            // ifLastChange of ports that have not changed.
            let zero_ns = zero_ns.unwrap_or(self.zero_ns);
            let up = || clock_ns(libc::CLOCK_MONOTONIC).saturating_sub(zero_ns) * PS_PER_NS;
            let ports = core.with(|fabric, now| mib.copier().renew_ports(fabric, now, up()));
            let tables = if bridge_tables_due {
                core.with(|fabric, now| mib.copier().renew_tables(fabric, now, up()))
            } else {
                Ok(())
            };
            if ports.and(tables).is_ok() {
                mib.put_into(&mut builder);
            }
        }
        own.put_into(&mut builder);
        for (name, plain) in &self.plain {
            match plain {
                Plain::Fixed(value) => builder.put_plain(name, value),
                Plain::Uptime { zero_ns } => {
                    builder.put_plain(name, &Value::Ticks(up_ticks(*zero_ns)))
                }
            }
        }
        self.table = builder.build();
        self.made = Some(Instant::now());
    }
}

impl Variables for MibView {
    fn table(&mut self, own: &Own) -> &Table {
        if is_older(self.made, TABLE_AGE_MAX) {
            self.remake(own);
        }
        &self.table
    }
}

fn is_older(made: Option<Instant>, age: Duration) -> bool {
    made.is_none_or(|made| made.elapsed() > age)
}
