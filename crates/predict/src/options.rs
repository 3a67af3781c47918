//! The options of `EXPLAIN (PREDICT ...)`.

use super::refused;
use dbsim::hardware::catalog;
use dbsim::plan::{Scheme, usual_scheme};
use dbsim::{Architecture, Coefficients};
use values::{Error, Result, SqlState};

/// The largest scale: numbers of rows stay exact.
const SCALE_MAX: f64 = 1e6;

/// The options as they are parsed.
#[derive(Debug, Default)]
pub struct Options {
    architecture: Option<String>,
    scale: Option<f64>,
    disks: Option<usize>,
    bundling: Option<Scheme>,
}

/// The parameters of a prediction.
#[derive(Debug)]
pub struct Request {
    /// The hardware.
    pub(super) architecture: Architecture,
    /// The costs of operators on it.
    pub(super) coefficients: Coefficients,
    /// The factor on the rows of all tables.
    pub(super) scale: f64,
    /// The scheme of operation bundling.
    pub(super) bundling: Scheme,
    /// Whether the query is run here to count its rows.
    pub(super) run: bool,
}

impl Options {
    /// Parses an option; whether it is one of these. `word` is its argument.
    ///
    /// # Errors
    /// 42601 without an argument, 22023 for an invalid one.
    pub fn take(&mut self, name: &str, word: Option<&str>) -> Result<bool> {
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

    /// The parameters; `None` without PREDICT. `analyze` says whether ANALYZE is given.
    ///
    /// # Errors
    /// 22023 for ANALYZE with a SCALE, an unknown architecture, a number of disks that it cannot
    /// have, or an option without PREDICT.
    pub fn request(&self, analyze: bool) -> Result<Option<Request>> {
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
