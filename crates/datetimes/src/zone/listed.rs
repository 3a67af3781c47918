//! The zones and the abbreviations that exist, as they are at a moment.

use super::name::ABBREVIATIONS;
use super::{MICROS_PER_SECOND, Zone, within_rules};
use chrono::TimeZone;
use chrono_tz::{OffsetComponents, TZ_VARIANTS, Tz};

/// A zone or an abbreviation, at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: &'static str,
    /// The abbreviation of its time.
    pub abbreviation: String,
    /// Seconds east of Greenwich.
    pub offset: i64,
    /// Whether its time is that of summer.
    pub is_summer: bool,
}

/// The zones of the database, by their names. The moment is in microseconds since 1970.
pub fn zones_at(micros: i64) -> Vec<Listed> {
    let listed = |tz: &Tz| {
        let zone = Zone::Named(*tz);
        Listed {
            name: tz.name(),
            abbreviation: zone.abbreviation_at(micros),
            offset: zone.offset_at(micros),
            is_summer: is_summer(*tz, micros),
        }
    };
    let mut all: Vec<Listed> = TZ_VARIANTS.iter().map(listed).collect();
    all.sort_by_key(|listed| listed.name);
    all
}

/// The abbreviations that texts name zones with. The moment is in microseconds since 1970.
pub fn abbreviations_at(micros: i64) -> Vec<Listed> {
    let mut all: Vec<Listed> = ABBREVIATIONS
        .iter()
        .map(|(name, (zone, is_of_summer))| Listed {
            name,
            abbreviation: (*name).to_owned(),
            offset: zone.offset_at(micros),
            is_summer: match zone {
                Zone::Offset(_) | Zone::Lettered(..) => *is_of_summer,
                Zone::Named(tz) | Zone::Abbreviated(tz, _) => is_summer(*tz, micros),
            },
        })
        .collect();
    all.sort_by_key(|listed| listed.name);
    all
}

fn is_summer(tz: Tz, micros: i64) -> bool {
    let utc = within_rules(micros.div_euclid(MICROS_PER_SECOND));
    tz.offset_from_utc_datetime(&utc).dst_offset().num_seconds() != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2024-07-01.
    const SUMMER: i64 = 1_719_792_000_000_000;

    #[test]
    fn zones_have_the_time_of_the_moment() {
        let of = |all: Vec<Listed>, name: &str| {
            let found = all.into_iter().find(|listed| listed.name == name).expect("is listed");
            (found.abbreviation, found.offset, found.is_summer)
        };
        let paris = of(zones_at(SUMMER), "Europe/Paris");
        assert_eq!(paris, ("CEST".to_owned(), 7200, true));
        assert_eq!(of(zones_at(SUMMER), "UTC"), ("UTC".to_owned(), 0, false));
        assert_eq!(of(abbreviations_at(SUMMER), "EDT"), ("EDT".to_owned(), -14_400, true));
        assert_eq!(of(abbreviations_at(SUMMER), "MSK"), ("MSK".to_owned(), 10_800, false));
        assert!(zones_at(SUMMER).len() > 500 && abbreviations_at(SUMMER).len() > 150);
    }
}
