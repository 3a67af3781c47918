//! Runs rounds, and reduces what they find.

use crate::outcome::{Defect, Outcome, normalized};
use crate::reduce::{Found, Reducer};
use crate::report::Report;
use crate::rounds::round;
use crate::script::{Step, parse};
use crate::session::{Limits, Session};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How many findings that look the same from outside are reduced.
const ALIKE_MAX: usize = 2;
/// What is run, and what happens to findings.
pub(crate) struct Settings {
    pub(crate) program: PathBuf,
    pub(crate) keep: Option<PathBuf>,
    /// The time for reducing a finding.
    pub(crate) reduce: Duration,
}

/// How long a run is. A round that has begun is finished.
pub(crate) struct Extent {
    pub(crate) time: Duration,
    pub(crate) rounds: u64,
    pub(crate) statements: usize,
}

/// A run.
pub(crate) struct Run {
    settings: Settings,
    report: Report,
    /// How often each kind of finding was there, before it was reduced.
    alike: BTreeMap<(Defect, String), usize>,
}

impl Run {
    /// A run that has found nothing yet.
    pub(crate) fn new(settings: Settings) -> Self {
        let report = Report::new(settings.keep.clone());
        Self { settings, report, alike: BTreeMap::new() }
    }

    /// What it has counted and found.
    pub(crate) fn report(&self) -> &Report {
        &self.report
    }

    /// The rounds of a seed.
    ///
    /// # Errors
    /// The server does not start.
    pub(crate) fn rounds(&mut self, seed: u64, extent: &Extent) -> Result<(), String> {
        let end = Instant::now() + extent.time;
        for number in 0..extent.rounds {
            if Instant::now() > end || self.report.statements() >= extent.statements {
                break;
            }
            let seed = seed.wrapping_add(number);
            self.script(&round(seed), Some(seed))?;
        }
        Ok(())
    }

    /// The scripts of a folder.
    ///
    /// # Errors
    /// The server does not start, or a script cannot be read.
    pub(crate) fn replay_folder(&mut self, folder: &Path) -> Result<(), String> {
        let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
        let mut files: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "sql"));
        files.sort();
        files.iter().try_for_each(|file| self.replay(file))
    }

    /// The script of a file.
    ///
    /// # Errors
    /// The server does not start, or the script cannot be read.
    pub(crate) fn replay(&mut self, file: &Path) -> Result<(), String> {
        let text = fs::read_to_string(file);
        let text = text.map_err(|error| format!("{}: {error}", file.display()))?;
        self.script(&parse(&text), None)
    }

    /// A script on a new server, until a statement harms it.
    fn script(&mut self, steps: &[Step], seed: Option<u64>) -> Result<(), String> {
        let mut session = Session::start(&self.settings.program, Limits::default())?;
        let mut findings = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            if self.is_known(step.label) {
                break;
            }
            let outcome = session.run(step);
            self.report.count(step.label, &outcome);
            let Outcome::Found(defect, detail) = outcome else { continue };
            findings.push(Found { defect, detail, script: steps[..=index].to_vec() });
            if !defect.leaves_the_server() {
                break;
            }
        }
        drop(session);
        for found in findings {
            self.reduce(found, seed);
        }
        Ok(())
    }

    fn reduce(&mut self, found: Found, seed: Option<u64>) {
        let label = found.script.last().map_or("", |step| step.label);
        let (alike, most) = if found.defect.leaves_the_server() {
            (normalized(&found.detail), 1)
        } else {
            (label.to_owned(), if is_single(label) { 1 } else { ALIKE_MAX })
        };
        let count = self.alike.entry((found.defect, alike)).or_default();
        *count += 1;
        if *count > most {
            self.report.repeated();
            return;
        }
        let reducer = Reducer { program: &self.settings.program, time: self.settings.reduce };
        match reducer.reduce(found.clone()) {
            Some(reduced) => self.report.add(&reduced, seed),
            // The machine may have been slow.
            None if matches!(found.defect, Defect::Hang | Defect::Deaf) => {
                self.report.unrepeatable(&found, seed);
            }
            None => self.report.add(&found, seed),
        }
    }

    /// Whether statements of this label, which are all of one form, are known to harm the server: they take long, and show
    /// nothing new.
    fn is_known(&self, label: &str) -> bool {
        is_single(label)
            && self
                .alike
                .keys()
                .any(|(defect, alike)| !defect.leaves_the_server() && alike == label)
    }
}

/// Whether all statements of a label have one form.
fn is_single(label: &str) -> bool {
    ["long ", "deep ", "view on ", "doubling "].iter().any(|start| label.starts_with(start))
}
