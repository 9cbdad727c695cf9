//! `SnmpAgent` in Python.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::SystemTime;

use fabric::{PortId, SwitchId};
use parking_lot::Mutex;
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use snmp::keys::{AuthProtocol, PrivProtocol};
use snmp::{Access, Agent, AgentConfig, Bind, ErrorStatus, UserConfig, Value};

use crate::agent::server::{AgentServer, Setter};
use crate::agent::view::{MibView, Plain};
use crate::mib::copy::PortPlace;
use crate::mib::group::{Layout, MibGroup};
use crate::python::error::fabric_error;
use crate::python::fabric::PyFabric;

/// Shortest password that RFC 3414 §11.2 allows and managers accept.
const PASSWORD_MIN_CHARACTERS: usize = 8;
/// Default size of a datagram: an unfragmented Ethernet frame.
const SIZE_MAX_BYTE: usize = 1472;

/// One SNMP agent on one UDP socket.
#[pyclass(frozen, module = "eee_engine")]
pub struct SnmpAgent {
    server: Arc<AgentServer>,
    address: SocketAddr,
}

#[pymethods]
impl SnmpAgent {
    #[new]
    #[pyo3(signature = (*, address, port=161, engine_id, communities, users, on_set=None, size_max_byte=SIZE_MAX_BYTE))]
    fn new(
        address: &str,
        port: u16,
        engine_id: Vec<u8>,
        communities: BTreeMap<String, String>,
        users: Vec<Bound<'_, PyDict>>,
        on_set: Option<Py<PyAny>>,
        size_max_byte: usize,
    ) -> PyResult<Self> {
        let host: IpAddr = address.parse().map_err(|_| {
            PyValueError::new_err(format!(
                "invalid address of an SNMP agent: {address:?}; use an IP address"
            ))
        })?;
        let communities = communities
            .into_iter()
            .map(|(name, access)| Ok((name, access_named(&access)?)));
        let seed = u64::from(port) << 32
            | engine_id
                .iter()
                .fold(7, |sum, &octet| sum * 31 % 0xffff_fffb + u64::from(octet));
        let config = AgentConfig {
            boots: boots_now(),
            communities: communities.collect::<PyResult<_>>()?,
            users: users.iter().map(user).collect::<PyResult<_>>()?,
            size_max_byte,
            salt_seed: SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .map_or(1, |age| age.as_nanos() as u64),
            engine_id,
        };
        let agent =
            Agent::new(&config).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let setter =
            on_set.map(|call| -> Setter { Box::new(move |binds| call_setter(&call, binds)) });
        Ok(Self {
            server: AgentServer::new(agent, setter, seed),
            address: SocketAddr::new(host, port),
        })
    }

    fn serve(
        &self,
        py: Python<'_>,
        engine: &Bound<'_, PyAny>,
        group: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let core = Arc::clone(engine.cast::<PyFabric>()?.get().core());
        let layout = layout(group)?;
        py.detach(|| self.server.with_view(|view| view.serve(core, layout)))
            .map_err(fabric_error)
    }

    fn put(&self, py: Python<'_>, values: &Bound<'_, PyAny>) -> PyResult<()> {
        let entries = values.try_iter()?.map(|bind| {
            let (name, kind, value): (String, String, Bound<'_, PyAny>) = bind?.extract()?;
            Ok((parse_oid(&name)?, plain(&name, &kind, &value)?))
        });
        let entries = entries.collect::<PyResult<Vec<_>>>()?;
        py.detach(|| self.server.with_view(|view| view.put(entries)));
        Ok(())
    }

    fn remove(&self, py: Python<'_>, prefix: &str) -> PyResult<()> {
        let prefix = parse_oid(prefix)?;
        py.detach(|| self.server.with_view(|view| view.remove(&prefix)));
        Ok(())
    }

    fn changed(&self, py: Python<'_>) {
        py.detach(|| self.server.with_view(MibView::changed));
    }

    fn set_loss(&self, py: Python<'_>, fraction: f64) -> PyResult<()> {
        if !(0.0..=1.0).contains(&fraction) {
            return Err(PyValueError::new_err(format!(
                "invalid share of lost requests: {fraction}; use 0 to 1"
            )));
        }
        py.detach(|| self.server.set_loss(fraction));
        Ok(())
    }

    fn start(&self, py: Python<'_>) -> PyResult<()> {
        let address = self.address;
        py.detach(|| self.server.start(address)).map_err(|error| {
            let what = format!(
                "the SNMP agent cannot listen on UDP {address}: {error}; free the port or give the switch another"
            );
            error.raw_os_error().map_or_else(
                || PyOSError::new_err(what.clone()),
                |number| PyOSError::new_err((number, what.clone())),
            )
        })
    }

    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.server.stop());
    }

    #[getter]
    fn port(&self, py: Python<'_>) -> u16 {
        py.detach(|| self.server.address())
            .unwrap_or(self.address)
            .port()
    }
}

/// snmpEngineBoots must increase with every start of a process and is not stored: seconds since 2026 increase.
fn boots_now() -> u32 {
    const UNIX_2026_S: u64 = 1_767_225_600;
    let unix_s = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |age| age.as_secs());
    u32::try_from(unix_s.saturating_sub(UNIX_2026_S))
        .unwrap_or(u32::MAX)
        .clamp(1, i32::MAX as u32 - 1)
}

fn access_named(name: &str) -> PyResult<Access> {
    match name {
        "ro" => Ok(Access::ReadOnly),
        "rw" => Ok(Access::ReadWrite),
        _ => Err(PyValueError::new_err(format!(
            "invalid access {name:?}: use \"ro\" or \"rw\""
        ))),
    }
}

fn user(given: &Bound<'_, PyDict>) -> PyResult<UserConfig> {
    let text = |key: &str| -> PyResult<String> {
        given
            .get_item(key)?
            .ok_or_else(|| PyValueError::new_err(format!("an SNMP user lacks {key:?}: add it")))?
            .extract()
    };
    let name = text("name")?;
    let hash = match text("auth")?.as_str() {
        "none" => None,
        "md5" => Some(AuthProtocol::Md5),
        "sha" => Some(AuthProtocol::Sha1),
        "sha256" => Some(AuthProtocol::Sha256),
        other => {
            return Err(PyValueError::new_err(format!(
                "SNMP user {name:?}: invalid auth {other:?}; use none, md5, sha or sha256"
            )));
        }
    };
    let cipher = match text("priv")?.as_str() {
        "none" => None,
        "des" => Some(PrivProtocol::Des),
        "aes" => Some(PrivProtocol::Aes128),
        other => {
            return Err(PyValueError::new_err(format!(
                "SNMP user {name:?}: invalid priv {other:?}; use none, des or aes"
            )));
        }
    };
    let key = |hash: AuthProtocol, field: &str| -> PyResult<Vec<u8>> {
        let password = text(field)?;
        if password.chars().count() < PASSWORD_MIN_CHARACTERS {
            let rule = format!(
                "SNMP user {name:?}: {field} has fewer than {PASSWORD_MIN_CHARACTERS} characters: use a longer password"
            );
            return Err(PyValueError::new_err(rule));
        }
        Ok(user_key(hash, &password))
    };
    let auth = hash
        .map(|hash| Ok::<_, PyErr>((hash, key(hash, "auth_password")?)))
        .transpose()?;
    // Without authentication the hash is irrelevant: `Agent::new` rejects such a user.
    let privacy_hash = hash.unwrap_or(AuthProtocol::Sha1);
    let privacy = cipher
        .map(|cipher| Ok::<_, PyErr>((cipher, key(privacy_hash, "priv_password")?)))
        .transpose()?;
    Ok(UserConfig {
        access: access_named(&text("access")?)?,
        name,
        auth,
        privacy,
    })
}

/// The key Ku of a password. Deriving it is deliberately slow and gives the same key for every agent, so it is cached
/// for the life of the process.
fn user_key(hash: AuthProtocol, password: &str) -> Vec<u8> {
    type Keys = HashMap<(AuthProtocol, String), Vec<u8>>;
    static KEPT: Mutex<Option<Keys>> = Mutex::new(None);
    let mut kept = KEPT.lock();
    let keys = kept.get_or_insert_default();
    keys.entry((hash, password.to_owned()))
        .or_insert_with(|| hash.password_key(password.as_bytes()))
        .clone()
}

fn layout(group: &Bound<'_, PyDict>) -> PyResult<Layout> {
    let needed = |key: &str| {
        group.get_item(key)?.ok_or_else(|| {
            PyValueError::new_err(format!("a group of SNMP variables lacks {key:?}: add it"))
        })
    };
    let optional = |key: &str| -> PyResult<HashMap<u32, u32>> {
        group
            .get_item(key)?
            .map_or_else(|| Ok(HashMap::new()), |value| value.extract())
    };
    let bridge_port = optional("bridge_port")?;
    let best_mbps = optional("speed_mbps")?;
    let lags: Vec<u32> = group
        .get_item("lags")?
        .map_or_else(|| Ok(Vec::new()), |value| value.extract())?;
    let if_index: HashMap<u32, u32> = needed("if_index")?.extract()?;
    let mut ports: Vec<PortPlace> = if_index
        .into_iter()
        .map(|(id, if_index)| PortPlace {
            id: PortId(id),
            if_index,
            bridge_port: bridge_port.get(&id).copied().filter(|&number| number > 0),
            is_lag: lags.contains(&id),
            best_mbps: best_mbps.get(&id).copied().unwrap_or(0),
        })
        .collect();
    ports.sort_by_key(|port| port.if_index);
    let names: Vec<String> = needed("groups")?.extract()?;
    let groups = names.iter().map(|name| {
        MibGroup::named(name).ok_or_else(|| {
            PyValueError::new_err(format!("unknown group of SNMP variables {name:?}"))
        })
    });
    Ok(Layout {
        switch: SwitchId(needed("switch")?.extract()?),
        ports,
        groups: groups.collect::<PyResult<_>>()?,
    })
}

fn parse_oid(text: &str) -> PyResult<Vec<u32>> {
    let parts = text
        .strip_prefix('.')
        .unwrap_or(text)
        .split('.')
        .map(str::parse);
    let name = parts
        .collect::<Result<Vec<u32>, _>>()
        .ok()
        .filter(|name| (2..=128).contains(&name.len()) && name[0] <= 2);
    name.ok_or_else(|| {
        PyValueError::new_err(format!(
            "invalid object identifier {text:?}: write it as 1.3.6.1…"
        ))
    })
}

fn dotted(name: &[u32]) -> String {
    name.iter()
        .map(u32::to_string)
        .collect::<Vec<_>>()
        .join(".")
}

/// A plain entry from the name of its type and a Python value.
fn plain(name: &str, kind: &str, value: &Bound<'_, PyAny>) -> PyResult<Plain> {
    let octets = || -> PyResult<Vec<u8>> {
        match value.cast::<PyString>() {
            Ok(text) => Ok(text.to_str()?.as_bytes().to_vec()),
            Err(_) => value.extract(),
        }
    };
    let count = || value.extract::<u64>();
    let fixed = || -> PyResult<Value<'static>> {
        Ok(match kind {
            "int" => Value::Integer(value.extract()?),
            "uint" => Value::Unsigned(value.extract()?),
            "counter" => Value::low32(count()?),
            "counter64" => Value::Counter64(count()?),
            "ticks" => Value::Ticks(count()? as u32),
            "octets" => Value::Octets(octets()?.into()),
            "oid" => Value::Oid(parse_oid(&value.extract::<String>()?)?.into()),
            "ip" => {
                let text: String = value.extract()?;
                let address: std::net::Ipv4Addr = text.parse().map_err(|_| {
                    PyValueError::new_err(format!("invalid IPv4 address {text:?} for {name}"))
                })?;
                Value::Ip(address.octets())
            }
            "null" => Value::Null,
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "unknown type {kind:?} of SNMP variable {name}"
                )));
            }
        })
    };
    if kind == "uptime" {
        let zero_s: f64 = value.extract()?;
        return Ok(Plain::Uptime {
            zero_ns: (zero_s.max(0.0) * 1e9) as u64,
        });
    }
    fixed().map(Plain::Fixed)
}

/// Calls Python with the bindings of one SET. A Python exception is reported as unraisable, and the manager gets
/// genErr.
fn call_setter(call: &Py<PyAny>, binds: &[Bind]) -> (ErrorStatus, usize) {
    Python::attach(|py| {
        let called = binds_to_python(py, binds)
            .and_then(|list| call.bind(py).call1((list,)))
            .and_then(|outcome| {
                let (status, index): (i32, usize) = outcome.extract()?;
                let status = ErrorStatus::from_number(status).ok_or_else(|| {
                    PyValueError::new_err(format!("{status} is not an SNMP error-status"))
                })?;
                Ok((status, index))
            });
        called.unwrap_or_else(|error| {
            error.write_unraisable(py, Some(call.bind(py)));
            (ErrorStatus::GenErr, 1)
        })
    })
}

fn binds_to_python<'py>(py: Python<'py>, binds: &[Bind]) -> PyResult<Bound<'py, PyList>> {
    let tuples = binds.iter().map(|bind| {
        let (kind, value): (&str, Bound<'py, PyAny>) = match &bind.value {
            Value::Integer(value) => ("int", value.into_pyobject(py)?.into_any()),
            Value::Unsigned(value) => ("uint", value.into_pyobject(py)?.into_any()),
            Value::Counter32(value) => ("counter", value.into_pyobject(py)?.into_any()),
            Value::Counter64(value) => ("counter64", value.into_pyobject(py)?.into_any()),
            Value::Ticks(value) => ("ticks", value.into_pyobject(py)?.into_any()),
            Value::Octets(value) => ("octets", PyBytes::new(py, value).into_any()),
            Value::Oid(value) => ("oid", PyString::new(py, &dotted(value)).into_any()),
            Value::Ip(value) => (
                "ip",
                PyString::new(py, &std::net::Ipv4Addr::from(*value).to_string()).into_any(),
            ),
            Value::Null => ("null", py.None().into_bound(py)),
        };
        (dotted(&bind.name), kind, value).into_pyobject(py)
    });
    PyList::new(py, tuples.collect::<PyResult<Vec<_>>>()?)
}
