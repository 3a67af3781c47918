//! What a client has learned: the keys of its statements, the owners of keys, and the servers'
//! addresses.

use crate::adjustment::Adjustment;
use crate::key_part::KeyPart;
use sdds::directory::Image;
use sdds::{GroupId, Key};
use std::collections::HashMap;
use std::sync::Arc;
use tokio_postgres::types::{ToSql, Type};

/// The place of a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// The server that the client began with.
    First,
    /// Another server, as `host:port`.
    At(Arc<str>),
}

/// The owner of keys before anything is known.
const NOBODY: GroupId = GroupId(u64::MAX);

/// Everything learned from servers.
#[derive(Debug, Default)]
pub(crate) struct Knowledge {
    /// Statements by their texts.
    routes: HashMap<String, Route>,
    /// Images by table.
    images: HashMap<u32, Image>,
    places: HashMap<GroupId, Place>,
}

#[derive(Debug)]
struct Route {
    table: u32,
    key: Vec<KeyPart>,
}

impl Knowledge {
    /// The believed place of a statement's row, for its text, parameter types and values.
    pub(crate) fn locate(
        &self,
        text: &str,
        types: &[Type],
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Option<&Place> {
        let Route { table, key } = self.routes.get(text)?;
        let image = self.images.get(table)?;
        let mut bytes = Vec::with_capacity(key.len() * 9);
        for part in key {
            part.encode(parameters, types, &mut bytes)?;
        }
        self.places.get(&image.locate(&Key::from(bytes)).owner.group)
    }

    /// Learns an adjustment from the server at a place.
    pub(crate) fn learn(&mut self, from: &Place, told: Adjustment) {
        for (group, address) in &told.servers {
            let known = self.places.get(&GroupId(*group));
            if known != Some(&Place::First) {
                self.places.insert(GroupId(*group), Place::At(address.as_str().into()));
            }
        }
        self.places.insert(GroupId(told.here), from.clone());
        let image = self.images.entry(told.table).or_insert_with(|| Image::new(NOBODY));
        image.learn_all(&told.entries());
        let Adjustment { table, key, statement, .. } = told;
        self.routes.insert(statement, Route { table, key });
    }

    /// The places of other servers.
    pub(crate) fn others(&self) -> Vec<Place> {
        self.places.values().filter(|place| **place != Place::First).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(entries: &str) -> Adjustment {
        let text = format!(
            r#"{{"here": 0, "table": 5, "statement": "S", "key": [{{"parameter": 0, "type": "int2"}}],
                "entries": {entries}, "servers": [[0, "a:1"], [1, "b:2"], [2, "c:3"]]}}"#
        );
        serde_json::from_str(&text).expect("an adjustment")
    }

    fn place(knowledge: &Knowledge, text: &str, key: i16) -> Option<Place> {
        knowledge.locate(text, &[Type::INT2], &[&key]).cloned()
    }

    fn at(address: &str) -> Option<Place> {
        Some(Place::At(address.into()))
    }

    #[test]
    fn nothing_is_said_of_what_is_not_known() {
        let mut knowledge = Knowledge::default();
        assert_eq!(place(&knowledge, "S", 7), None);
        knowledge.learn(&Place::First, told(r#"[["8005", "8009", 1, 1]]"#));
        assert_eq!(place(&knowledge, "S", 7), at("b:2"));
        assert_eq!(place(&knowledge, "S", 9), None, "never heard of");
        assert_eq!(place(&knowledge, "T", 7), None, "another statement");
        assert_eq!(knowledge.locate("S", &[Type::INT2], &[&None::<i16>]), None, "no key");
        assert_eq!(knowledge.others().len(), 2);
    }

    #[test]
    fn the_newest_entry_counts_whenever_it_comes() {
        let mut knowledge = Knowledge::default();
        knowledge.learn(&Place::First, told(r#"[["8005", null, 4, 2]]"#));
        knowledge.learn(&Place::First, told(r#"[[null, null, 3, 1]]"#));
        assert_eq!(place(&knowledge, "S", 7), at("c:3"));
        assert_eq!(place(&knowledge, "S", 4), at("b:2"));
        knowledge.learn(&Place::At("b:2".into()), told(r#"[["8005", null, 5, 0]]"#));
        assert_eq!(place(&knowledge, "S", 7), at("b:2"), "it says who it is");
    }
}
