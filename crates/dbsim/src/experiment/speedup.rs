//! Speed-ups at 8, 16 and 32 disks over 4 (the paper's table 9).

use super::{Setup, Sizes, mean, published};
use crate::Error;
use crate::hardware::Architecture;
use crate::plan::Scheme;

/// Disks of which the first number is compared with the others.
const DISKS: [usize; 4] = [4, 8, 16, 32];

/// How an architecture grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Hosts of a cluster, with so many disks each.
    Hosts(usize),
    /// Smart disks, in so many groups with a sub-coordinator each; 1 is none.
    SmartDisks(usize),
}

/// What grows: the rows of the paper's table in its order, and smart disks in groups, which it has no figures of.
pub const FAMILIES: [Family; 4] =
    [Family::Hosts(4), Family::Hosts(2), Family::SmartDisks(1), Family::SmartDisks(4)];

/// A row of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Speedup {
    /// What grows.
    pub family: Family,
    /// Speed-ups at 8, 16 and 32 disks, the mean over the queries.
    pub speedups: [f64; 3],
    /// The same as published.
    pub published: Option<[f64; 3]>,
}

impl Family {
    /// What it is called.
    pub fn name(self) -> String {
        match self {
            Self::Hosts(disks) => format!("cluster of {disks}-disk hosts"),
            Self::SmartDisks(1) => "smart disks".to_owned(),
            Self::SmartDisks(groups) => format!("smart disks, {groups} groups"),
        }
    }

    fn with_disks(self, disks: usize, setup: &Setup) -> Result<Architecture, Error> {
        match self {
            Self::Hosts(each) => {
                let sites = format!("sites={}", disks / each);
                setup.architecture("cluster-4", Some(sites))?.with_disks(disks)
            }
            Self::SmartDisks(groups) => {
                let groups = format!("groups={groups}");
                setup.architecture("smart-disk", Some(groups))?.with_disks(disks)
            }
        }
    }
}

/// Runs all of it.
///
/// # Errors
/// Those of [`crate::simulate`].
pub fn speedup(setup: &Setup) -> Result<Vec<Speedup>, Error> {
    let published = published::SPEEDUPS.into_iter().map(Some).chain([None]);
    let rows = FAMILIES.iter().zip(published);
    rows.map(|(family, published)| of_family(setup, *family, published)).collect()
}

fn of_family(setup: &Setup, family: Family, published: Option<[f64; 3]>) -> Result<Speedup, Error> {
    let run = |disks: &usize| {
        let architecture = family.with_disks(*disks, setup)?;
        setup.seconds(&architecture, Scheme::Optimal, Sizes::BASE)
    };
    let seconds = DISKS.iter().map(run).collect::<Result<Vec<_>, _>>()?;
    let speedups = std::array::from_fn(|larger| {
        let pairs = seconds[0].iter().zip(&seconds[larger + 1]);
        mean(&pairs.map(|(four, more)| four / more).collect::<Vec<_>>())
    });
    Ok(Speedup { family, speedups, published })
}
