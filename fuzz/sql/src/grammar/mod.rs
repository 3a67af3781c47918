//! Random statements, most of them valid, by kind.
//!
//! A [`Generator`] knows the tables that its statements have made, as if each had succeeded: what it makes depends on the
//! seed alone, never on the server's answers.

mod aggregates;
mod changes;
mod definitions;
mod expressions;
mod forms;
mod frames;
mod literals;
mod queries;
mod relations;
mod schema;
mod selects;
mod sessions;
mod subqueries;
mod windows;

use crate::random::Random;
use crate::script::{Mode, Step};
use crate::tree::{Kind, Node};
use frames::Frames;
use schema::Schema;

/// Makes statements.
pub(crate) struct Generator {
    pub(crate) random: Random,
    schema: Schema,
    frames: Frames,
    /// Names that were given, for new ones.
    names: usize,
    /// The parameters of the statement; none if it may not have any.
    parameters: Option<usize>,
    /// Whether FROM may hold large series, and functions may make large values.
    large: bool,
}

type Maker = fn(&mut Generator) -> Node;

/// Kinds of statements: the label, how often, and who makes it.
const KINDS: &[(&str, usize, Maker)] = &[
    ("select", 46, Generator::any_query),
    ("insert", 7, Generator::insert),
    ("update", 6, Generator::update),
    ("delete", 4, Generator::delete),
    ("truncate", 1, Generator::truncate),
    ("create table", 3, Generator::create_table),
    ("create table as", 2, Generator::create_table_as),
    ("create view", 5, Generator::create_view),
    ("alter", 4, Generator::alter),
    ("drop", 2, Generator::drop),
    ("sequence", 2, Generator::sequence),
    ("transaction", 2, Generator::transaction),
    ("copy", 3, Generator::copy),
    ("prepare", 3, Generator::prepare),
    ("cursor", 4, Generator::cursor),
    ("explain", 4, Generator::explain),
    ("settings", 3, Generator::settings),
];

impl Generator {
    /// The generator of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            schema: Schema::default(),
            frames: Frames::default(),
            names: 0,
            parameters: None,
            large: false,
        }
    }

    /// Statements that make tables with rows, and views.
    pub(crate) fn setup(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        for _ in 0..self.random.within(1..=3) {
            steps.push(Step::simple("create table", self.create_table()));
            steps.push(Step::simple("fill", self.fill()));
        }
        for _ in 0..self.random.below(3) {
            steps.push(Step::simple("create view", self.view_of_table()));
        }
        self.schema.sound = self.schema.tables.len();
        steps
    }

    /// A statement of any kind, sent in any way, or a whole transaction.
    pub(crate) fn steps(&mut self) -> Vec<Step> {
        if self.random.percent(96) {
            return vec![self.step()];
        }
        let control = |text: &str| Step::simple("transaction", Node::text(text));
        let mut steps = vec![control("BEGIN")];
        for _ in 0..self.random.within(1..=5) {
            let savepoint = self.random.percent(60);
            steps.extend(savepoint.then(|| control("SAVEPOINT s1")));
            steps.push(self.step());
            steps.extend(savepoint.then(|| control("ROLLBACK TO s1")));
        }
        let end = *self.random.pick(&["COMMIT", "COMMIT", "ROLLBACK", "COMMIT AND CHAIN"]);
        steps.push(control(end));
        steps.extend(self.random.percent(50).then(|| control("ROLLBACK")));
        steps
    }

    fn step(&mut self) -> Step {
        let weights: Vec<usize> = KINDS.iter().map(|(_, weight, _)| *weight).collect();
        let (label, _, maker) = KINDS[self.random.weighted(&weights)];
        let mode = self.mode();
        self.large = self.random.percent(8);
        let takes = matches!(label, "select" | "insert" | "update" | "delete");
        self.parameters = (takes && mode != Mode::Simple).then_some(0);
        let node = maker(self);
        self.parameters = None;
        let cancel = self.random.percent(3).then(|| self.random.below(300) as u64);
        Step { label, mode, cancel, node }
    }

    fn mode(&mut self) -> Mode {
        if self.random.percent(70) {
            return Mode::Simple;
        }
        let rows = *self.random.pick(&[0, 0, 1, 7]);
        Mode::Extended { binary: self.random.percent(50), rows }
    }

    /// A query of a few columns of any types.
    fn any_query(&mut self) -> Node {
        let types = self.types(1..=4);
        self.query(&types, 3)
    }

    /// A name that was not given before.
    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// Mostly the part, sometimes nothing.
    fn maybe(&mut self, probability: usize, part: impl FnOnce(&mut Self) -> Node) -> Node {
        if self.random.percent(probability) { part(self) } else { Node::nothing() }
    }

    /// One of these texts.
    fn word(&mut self, words: &[&'static str]) -> Node {
        Node::text(*self.random.pick(words))
    }
}

/// A statement from a form.
fn statement(form: &str, holes: impl IntoIterator<Item = Node>) -> Node {
    Node::form(Kind::Fixed, form, holes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_one_script() {
        let script = |seed| {
            let mut generator = Generator::new(seed);
            let mut steps = generator.setup();
            steps.extend((0..200).flat_map(|_| generator.steps()));
            crate::script::print(&steps)
        };
        assert_eq!(script(1), script(1));
        assert_ne!(script(1), script(2));
    }
}
