//! What `EXPLAIN (PREDICT ...)` is asked for: the options that belong to it.

use super::refused;
use crate::values::error::{Error, Result, SqlState};
use dbsim::hardware::catalog;
use dbsim::plan::{Scheme, usual_scheme};
use dbsim::{Architecture, Coefficients};

/// The largest scale: rows stay numbers that can be counted.
const SCALE_MAX: f64 = 1e6;

/// The options as they are being read.
#[derive(Debug, Default)]
pub(crate) struct Options {
    architecture: Option<String>,
    scale: Option<f64>,
    disks: Option<usize>,
    bundling: Option<Scheme>,
}

/// What is to be simulated.
#[derive(Debug)]
pub(crate) struct Request {
    /// The hardware.
    pub(super) architecture: Architecture,
    /// What operators cost there.
    pub(super) coefficients: Coefficients,
    /// How often each row of a table is there.
    pub(super) scale: f64,
    /// Which operators run as one bundle.
    pub(super) bundling: Scheme,
    /// Whether the query is run here, to count its rows.
    pub(super) run: bool,
}

impl Options {
    /// Takes an option, if it is one of these; `word` is what stands after its name.
    ///
    /// # Errors
    /// 42601 where nothing stands there, 22023 where it cannot be.
    pub(crate) fn take(&mut self, name: &str, word: Option<&str>) -> Result<bool> {
        if !["predict", "scale", "disks", "bundling"].contains(&name) {
            return Ok(false);
        }
        let Some(word) = word else {
            let message = format!("{name} requires a parameter");
            let names: Vec<&str> = catalog::names().collect();
            let hint = format!("PREDICT takes one of {}.", names.join(", "));
            let error = Error::new(SqlState::SyntaxError, message);
            return Err(if name == "predict" { error.with_hint(hint) } else { error });
        };
        match name {
            "predict" => self.architecture = Some(word.to_owned()),
            "scale" => self.scale = Some(scale(word)?),
            "disks" => {
                let disks = word.parse().map_err(|_| wrong(name, word, "a number of disks"))?;
                self.disks = Some(disks);
            }
            _ => self.bundling = Some(scheme(word)?),
        }
        Ok(true)
    }

    /// What they ask for together, of a query that ANALYZE has run; `None` where nothing is to be predicted.
    ///
    /// # Errors
    /// 22023 where rows that are counted should be others with SCALE, where there is no such architecture, it cannot have so many disks, or an option stands without PREDICT.
    pub(crate) fn request(&self, analyze: bool) -> Result<Option<Request>> {
        let Some(name) = &self.architecture else {
            let given = [
                ("SCALE", self.scale.is_some()),
                ("DISKS", self.disks.is_some()),
                ("BUNDLING", self.bundling.is_some()),
            ];
            return match given.into_iter().find(|(_, given)| *given) {
                Some((option, _)) => {
                    let message = format!("EXPLAIN option {option} requires PREDICT");
                    Err(Error::new(SqlState::InvalidParameterValue, message))
                }
                None => Ok(None),
            };
        };
        if analyze && self.scale.is_some_and(|scale| scale != 1.0) {
            let message = "EXPLAIN options ANALYZE and SCALE cannot be used together with PREDICT";
            return Err(Error::new(SqlState::InvalidParameterValue, message)
                .with_hint("ANALYZE counts rows, and those of other tables are not known."));
        }
        let mut architecture = catalog::named(name, &[]).map_err(refused)?;
        if let Some(disks) = self.disks {
            architecture = architecture.with_disks(disks).map_err(refused)?;
        }
        Ok(Some(Request {
            architecture,
            coefficients: Coefficients::usual(name).map_err(refused)?,
            scale: self.scale.unwrap_or(1.0),
            bundling: self.bundling.unwrap_or_else(|| usual_scheme(name)),
            run: analyze,
        }))
    }
}

fn scheme(word: &str) -> Result<Scheme> {
    word.parse::<Scheme>()
        .map_err(|error| Error::new(SqlState::InvalidParameterValue, error.to_string()))
}

fn scale(word: &str) -> Result<f64> {
    let scale = word.parse().ok().filter(|scale: &f64| *scale > 0.0 && *scale <= SCALE_MAX);
    scale.ok_or_else(|| wrong("scale", word, "a number above 0, at most 1000000"))
}

fn wrong(option: &str, word: &str, takes: &str) -> Error {
    let message = format!("invalid value for EXPLAIN option \"{option}\": \"{word}\"");
    Error::new(SqlState::InvalidParameterValue, message).with_hint(format!("It takes {takes}."))
}
