//! The script of each round.

use crate::grammar::Generator;
use crate::script::Step;
use crate::{long, mutation};

/// Statements of a round of the grammar.
const STATEMENTS: usize = 40;
/// How many rounds of a hundred are long or deep statements.
const LONG: usize = 25;
/// How many statements of a hundred are damaged.
const DAMAGED: usize = 15;

/// The script of a seed.
pub(crate) fn round(seed: u64) -> Vec<Step> {
    let mut generator = Generator::new(seed);
    if generator.random.percent(LONG) {
        return long::script(&mut generator.random);
    }
    let mut steps = generator.setup();
    while steps.len() < STATEMENTS {
        for step in generator.steps() {
            let damaged = generator.random.percent(DAMAGED);
            steps.push(if damaged { mutation::damage(&mut generator.random, step) } else { step });
        }
    }
    steps
}
