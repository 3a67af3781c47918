//! Single values of a description, changed by name.

use super::Architecture;
use crate::Error;
use serde::Deserialize;
use toml::{Table, Value};

/// Short names of values, and where a description has them. A place itself, like `site.disk.rpm`, is a name too.
pub const SETTINGS: &[(&str, &str)] = &[
    ("sites", "sites"),
    ("groups", "groups"),
    ("page_kb", "page_kb"),
    ("outstanding", "outstanding"),
    ("cpu_mhz", "site.processor.mhz"),
    ("cores", "site.processor.cores"),
    ("work_per_cycle", "site.processor.work_per_cycle"),
    ("memory_mb", "site.memory_mb"),
    ("disk_rpm", "site.disk.rpm"),
    ("interconnect_mb_s", "site.interconnect.mb_s"),
    ("memory_mb_s", "site.bus.mb_s"),
    ("central_mhz", "central.mhz"),
    ("central_work_per_cycle", "central.work_per_cycle"),
    ("network_mbit_s", "network.mbit_s"),
    ("network_latency_us", "network.latency_us"),
    ("topology", "network.topology"),
];

impl Architecture {
    /// Reads a description; `file` is what errors call it, `changes` are settings like `cpu_mhz=350` (see
    /// [`super::SETTINGS`]).
    ///
    /// # Errors
    /// [`Error::File`] with the line where the description is wrong, [`Error::Setting`] and [`Error::Unknown`] where a change is.
    pub fn read(text: &str, file: &str, changes: &[String]) -> Result<Self, Error> {
        let architecture: Self =
            toml::from_str(text).map_err(|error| Error::parse(file, &error))?;
        architecture.check().map_err(|(key, message)| {
            let line = text.lines().position(|line| line.trim_start().starts_with(key));
            let message = format!("line {}: {message}", line.map_or(1, |line| line + 1));
            Error::File { file: file.to_owned(), message }
        })?;
        if changes.is_empty() { Ok(architecture) } else { changed(text, changes) }
    }
}

/// Reads a description with some values changed.
fn changed(text: &str, changes: &[String]) -> Result<Architecture, Error> {
    let mut table: Table = text.parse().unwrap_or_default();
    let mut disks = None;
    for change in changes {
        let wrong = |message: &str| setting(change, message);
        let (name, value) =
            parts(change).ok_or_else(|| wrong("expected NAME=VALUE, like cpu_mhz=350"))?;
        if name == "disks" {
            disks = Some(value.parse().map_err(|_| wrong("not a number of disks"))?);
            continue;
        }
        match slot(&mut table, place(name)) {
            Some(slot) => *slot = parse(value),
            None => return Err(unknown(&mut table, name)),
        }
        // One by one, so that an error is about this change.
        Architecture::deserialize(table.clone()).map_err(|error| wrong(error.message()))?;
    }
    let all = || changes.join(" ");
    let architecture =
        Architecture::deserialize(table).map_err(|error| setting(&all(), error.message()))?;
    let architecture = match disks {
        Some(disks) => architecture.with_disks(disks)?,
        None => architecture,
    };
    architecture.check().map_err(|(_, message)| setting(&all(), &message))?;
    Ok(architecture)
}

/// Whether a description has the value that a change is of. One that is not written as a change is for whoever applies it to refuse.
pub(super) fn concerns(text: &str, change: &str) -> bool {
    let mut table: Table = text.parse().unwrap_or_default();
    parts(change).is_none_or(|(name, _)| name == "disks" || slot(&mut table, place(name)).is_some())
}

/// The name and the value of a change.
fn parts(change: &str) -> Option<(&str, &str)> {
    change.split_once('=').map(|(name, value)| (name.trim(), value.trim()))
}

/// Where descriptions have what is called so.
fn place(name: &str) -> &str {
    let short = SETTINGS.iter().find(|(short, _)| *short == name);
    short.map_or(name, |(_, place)| place)
}

/// There is no such value here; those that there are.
fn unknown(table: &mut Table, name: &str) -> Error {
    let here = SETTINGS.iter().filter(|(_, place)| slot(table, place).is_some());
    let here: Vec<&str> = here.map(|(short, _)| *short).chain(["disks"]).collect();
    Error::unknown("setting for this architecture", name, here.into_iter())
}

fn setting(setting: &str, message: &str) -> Error {
    Error::Setting { setting: setting.to_owned(), message: message.trim_end().to_owned() }
}

/// Where a value is in a description, if it has it.
fn slot<'a>(table: &'a mut Table, place: &str) -> Option<&'a mut Value> {
    match place.split_once('.') {
        None => table.get_mut(place),
        Some((first, rest)) => slot(table.get_mut(first)?.as_table_mut()?, rest),
    }
}

/// What a file would say so, else text, which needs no quotes here.
fn parse(value: &str) -> Value {
    value.parse().unwrap_or_else(|_| Value::String(value.to_owned()))
}

#[cfg(test)]
mod tests {
    use crate::Error;
    use crate::hardware::catalog::named;

    fn message(changes: &[&str]) -> String {
        let changes: Vec<String> = changes.iter().map(|change| (*change).to_owned()).collect();
        named("smart-disk", &changes).expect_err("refused").to_string()
    }

    #[test]
    fn values_change_by_their_short_name_and_by_their_place() {
        let changes = ["cpu_mhz=350", "site.disk.rpm = 7200", "disks=16", "topology=mesh-2d"];
        let architecture = named("smart-disk", &changes.map(str::to_owned)).expect("changed");
        assert_eq!(architecture.site.processor.mhz, 350.0);
        assert_eq!(architecture.site.disk.map(|disk| disk.rpm), Some(7200.0));
        assert_eq!(architecture.sites, 16);
        let zones = named("smart-disk", &["site.disk.transfer_mb_s=[36, 21]".to_owned()]);
        let disk = zones.expect("changed").site.disk.expect("a disk");
        assert_eq!((disk.transfer_mb_s.outer, disk.transfer_mb_s.inner), (36.0, 21.0));
    }

    #[test]
    fn what_cannot_be_is_refused_by_its_name() {
        assert!(message(&["cpu_mhz=0"]).starts_with("cpu_mhz=0: 0 is not greater than 0"));
        assert!(message(&["cpu_mhz=fast"]).starts_with("cpu_mhz=fast: "));
        assert!(message(&["cpu_mhz"]).contains("expected NAME=VALUE"));
        let colour = message(&["colour=red"]);
        assert!(colour.contains("`colour`; expected one of: sites, "), "{colour}");
        assert!(!colour.contains("interconnect_mb_s"), "smart disks have none: {colour}");
        assert!(message(&["groups=9"]).contains("9 groups for 8 sites"));
        let grouped = ["groups=9".to_owned(), "disks=16".to_owned()];
        assert!(named("smart-disk", &grouped).is_ok(), "sixteen can be nine groups");
        let disks = named("cluster-2", &["disks=5".to_owned()]);
        assert!(matches!(disks, Err(Error::Setting { .. })));
    }
}
