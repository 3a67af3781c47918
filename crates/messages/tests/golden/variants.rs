//! The names of an enum's variants in the order of their ordinals, as its derived form has them.

use sdds::Bound;
use sdds::directory::{Content, Level, Message};
use serde::de::value::Error as Refused;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;
use std::any::type_name;
use store::catalog::CatalogChange;
use store::locks::{Mode, Space};
use store::{LockPolicy, MoveSetting};

/// A source that only notes what it is asked for.
struct Listing<'a>(&'a mut Vec<&'static str>);

impl<'de> Deserializer<'de> for Listing<'_> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Refused> {
        Err(Refused::custom("there is nothing"))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Refused> {
        self.0.extend(variants);
        Err(Refused::custom("there is nothing"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// The variants of an enum.
pub(super) fn of<T: for<'de> Deserialize<'de>>() -> Vec<&'static str> {
    let mut variants = Vec::new();
    assert!(T::deserialize(Listing(&mut variants)).is_err(), "there is nothing to read");
    assert!(!variants.is_empty(), "an enum");
    variants
}

fn line<T: for<'de> Deserialize<'de>>() -> String {
    let name = type_name::<T>().replace(' ', "");
    let variants = of::<T>().into_iter().enumerate();
    let variants: Vec<String> = variants.map(|(at, name)| format!("{at}={name}")).collect();
    format!("{name} {}", variants.join(" "))
}

/// A line for each enum within messages.
pub(super) fn lines() -> Vec<String> {
    vec![
        line::<Bound>(),
        line::<Message<()>>(),
        line::<Content>(),
        line::<Level>(),
        line::<Mode>(),
        line::<Space>(),
        line::<LockPolicy>(),
        line::<MoveSetting>(),
        line::<CatalogChange>(),
        line::<store::Error>(),
        line::<store::catalog::Error>(),
    ]
}
