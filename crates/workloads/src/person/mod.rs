//! Experiment A's table (AMOS-SDDS, `PAPERS.md`): persons in fifty cities, about 25 bytes a row.
//!
//! Any fifty consecutive persons live in fifty different cities. So the number of pairs in the same city has a formula
//! ([`pairs`]), and cities are not in key order.

mod strategies;

pub use strategies::{COUNT_EXTERNAL, COUNT_INTERNAL, FUNCTIONS, PAIRS_EXTERNAL, PAIRS_INTERNAL};

use crate::source::TableSource;
use arrow::array::{ArrayRef, Int32Array, StringViewBuilder};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use std::sync::Arc;

/// Lists the pairs of persons in the same city, each pair once.
pub const PAIRS: &str = "SELECT a.ssn, b.ssn AS ssn1 FROM person a, person b \
                         WHERE a.city = b.city AND a.ssn < b.ssn";
/// Counts the pairs.
pub const COUNT: &str = "SELECT count(*) AS pairs FROM person a, person b \
                         WHERE a.city = b.city AND a.ssn < b.ssn";
/// Counts the pairs without a join: n persons of a city are n (n - 1) / 2 pairs.
pub const COUNT_BY_CITY: &str = "SELECT sum(n * (n - 1) / 2) AS pairs \
     FROM (SELECT city, count(*) AS n FROM person GROUP BY city) AS cities";

const CREATE: &str = "\
CREATE TABLE person (
    ssn integer NOT NULL,
    name varchar(20) NOT NULL,
    city varchar(20) NOT NULL,
    PRIMARY KEY (ssn)
)";

/// Rows of a generated batch.
const BATCH_ROWS: u32 = 8192;
/// Has no common divisor with the number of cities, so that multiples of consecutive numbers reach all cities.
const STRIDE: u32 = 7;

const CITIES: [&str; 50] = [
    "Abidjan",
    "Accra",
    "Algiers",
    "Amman",
    "Antalya",
    "Bamako",
    "Bergen",
    "Bilbao",
    "Bogota",
    "Bordeaux",
    "Bremen",
    "Cairo",
    "Caracas",
    "Chennai",
    "Dakar",
    "Dublin",
    "Durban",
    "Essen",
    "Fukuoka",
    "Geneva",
    "Gothenburg",
    "Hanoi",
    "Havana",
    "Helsinki",
    "Izmir",
    "Jakarta",
    "Kampala",
    "Krakow",
    "Lagos",
    "Leipzig",
    "Lima",
    "Linköping",
    "Lisbon",
    "Lyon",
    "Malaga",
    "Medellin",
    "Montreal",
    "Nairobi",
    "Nantes",
    "Osaka",
    "Oslo",
    "Porto",
    "Quito",
    "Riga",
    "Saint-Louis",
    "Seville",
    "Tokyo",
    "Uppsala",
    "Valencia",
    "Zurich",
];
const GIVEN: [&str; 32] = [
    "Ada", "Alan", "Amina", "Ana", "Awa", "Barbara", "Bo", "Carl", "Clara", "Edgar", "Elif",
    "Emil", "Fatou", "Grace", "Hana", "Ines", "Ivan", "Jim", "Kofi", "Lea", "Liam", "Mary", "Mei",
    "Nils", "Omar", "Pat", "Rosa", "Samir", "Tom", "Uma", "Yuki", "Zoe",
];
const FAMILY: [&str; 31] = [
    "Bauer", "Cho", "Costa", "Diaz", "Diop", "Eriksen", "Fall", "Garcia", "Haas", "Ito", "Jones",
    "Kaya", "Kim", "Lopez", "Mbeki", "Moreau", "Ndiaye", "Nowak", "Okafor", "Olsen", "Park",
    "Rossi", "Sato", "Silva", "Singh", "Smith", "Toure", "Virtanen", "Wang", "Weber", "Yilmaz",
];

const INITIALS: [char; 25] = [
    'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'N', 'O', 'P', 'Q', 'R', 'S',
    'T', 'U', 'V', 'W', 'Y', 'Z',
];

/// The table with keys 1 to `rows`.
pub fn table(rows: u32) -> TableSource {
    let schema = schema();
    let batch_schema = Arc::clone(&schema);
    let starts = (0..rows).step_by(BATCH_ROWS as usize);
    let batches = starts.map(move |start| {
        let ssns = start + 1..=rows.min(start + BATCH_ROWS);
        batch(&batch_schema, ssns)
    });
    TableSource {
        name: "person".to_owned(),
        create_sql: CREATE.to_owned(),
        rows: u64::from(rows),
        schema,
        batches: Box::new(batches),
    }
}

/// The number of pairs in the same city among persons 1 to `rows`.
pub fn pairs(rows: u32) -> u64 {
    let cities = CITIES.len() as u64;
    let (full, rest) = (u64::from(rows) / cities, u64::from(rows) % cities);
    let among = |persons: u64| persons * persons.saturating_sub(1) / 2;
    (cities - rest) * among(full) + rest * among(full + 1)
}

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("ssn", DataType::Int32, false),
        Field::new("name", DataType::Utf8View, false),
        Field::new("city", DataType::Utf8View, false),
    ]))
}

fn batch(schema: &SchemaRef, ssns: std::ops::RangeInclusive<u32>) -> RecordBatch {
    let mut names = StringViewBuilder::new();
    let mut cities = StringViewBuilder::new();
    for ssn in ssns.clone() {
        names.append_value(name(ssn));
        cities.append_value(city(ssn));
    }
    let keys = Int32Array::from_iter_values(ssns.map(u32::cast_signed));
    let columns: Vec<ArrayRef> =
        vec![Arc::new(keys), Arc::new(names.finish()), Arc::new(cities.finish())];
    RecordBatch::try_new(Arc::clone(schema), columns).expect("persons fit their schema")
}

fn city(ssn: u32) -> &'static str {
    let place = u64::from(ssn) * u64::from(STRIDE) % CITIES.len() as u64;
    CITIES[place as usize]
}

/// The numbers of given names, initials and family names have no common divisors, so that a name repeats only after
/// thousands of persons.
fn name(ssn: u32) -> String {
    let of = |count: usize| ssn as usize % count;
    let (given, family) = (GIVEN[of(GIVEN.len())], FAMILY[of(FAMILY.len())]);
    format!("{given} {}. {family}", INITIALS[of(INITIALS.len())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn keys_are_consecutive_from_one() {
        let table = table(20_000);
        let batches: Vec<_> = table.batches.collect();
        assert_eq!(batches.len(), 3);
        let keys = batches.iter().flat_map(|batch| {
            let keys = batch.column(0).as_any().downcast_ref::<Int32Array>().unwrap();
            keys.values().iter().copied().collect::<Vec<_>>()
        });
        assert!(keys.eq(1..=20_000));
    }

    #[test]
    fn the_formula_of_pairs_agrees_with_counting() {
        for rows in [0, 1, 50, 51, 173, 1000] {
            let mut persons = BTreeMap::<&str, u64>::new();
            (1..=rows).for_each(|ssn| *persons.entry(city(ssn)).or_default() += 1);
            let counted: u64 = persons.values().map(|n| n * (n - 1) / 2).sum();
            assert_eq!(pairs(rows), counted, "{rows} persons");
        }
        assert_eq!(pairs(20_000), 3_990_000, "the paper says 4M");
    }

    #[test]
    fn rows_have_about_twenty_five_bytes() {
        let bytes: usize = (1..=992 * 50).map(|ssn| 4 + name(ssn).len() + city(ssn).len()).sum();
        let mean = bytes as f64 / f64::from(992 * 50);
        assert!((22.0..28.0).contains(&mean), "{mean}");
        let names: BTreeSet<String> = (0..20_000).map(name).collect();
        assert_eq!(names.len(), 20_000);
    }
}
