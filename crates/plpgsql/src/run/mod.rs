//! The interpreter.

mod assigned;
mod blocks;
mod branches;
mod call;
mod context;
mod cursors;
mod host;
mod items;
mod loops;
mod parameters;
mod programs;
mod quick;
mod raise;
mod register;
mod returned;
mod rows;
mod scope;
mod statements;
mod trigger;
mod turns;
mod variables;

pub use context::Called;
pub use host::{Answer, CursorQuery, Host, Move, Place as ItemPlace, Raised, Severity, Variable};
pub use programs::{Compute, Programs};
pub use register::{Kind as RegisterKind, Register};
pub use returned::{Form, call, value};
pub use trigger::{Row, TriggerRow, Triggered, run_trigger};

use crate::tree::Block;
use context::Place;
use scope::{Content, Scopes, Slot};
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use values::error::{Error, Result, SqlState};
use variables::BOOLEAN;

/// What a function has done.
#[derive(Debug)]
pub struct Ended<V> {
    /// The value of RETURN; `None` without one.
    pub returned: Option<V>,
    /// The rows of RETURN NEXT and RETURN QUERY.
    pub rows: Vec<Vec<V>>,
    /// The last values of the parameters, in their order.
    pub parameters: Vec<V>,
}

/// A parameter or variable that the function begins with: name, type and value.
pub type Given<V> = (Arc<str>, Arc<str>, V);

/// The name of the variable that says whether a statement has met rows.
static FOUND: LazyLock<Arc<str>> = LazyLock::new(|| Arc::from("found"));

/// The type of that variable.
static TRUTH: LazyLock<Arc<str>> = LazyLock::new(|| Arc::from(BOOLEAN));

/// Where a statement leads.
enum Flow<V> {
    /// To the next one.
    Next,
    /// Behind a loop or block.
    Exit(Option<String>),
    /// To the next turn of a loop.
    Continue(Option<String>),
    /// Out of the function.
    Return(Option<V>),
}

/// Statements that run: boxed, since they hold others of their kind.
type Running<'a, V> = Pin<Box<dyn Future<Output = Result<Flow<V>>> + Send + 'a>>;

/// Runs a function with its parameters; `$n` is the n-th. `outputs` are the places of those that make its
/// result.
///
/// # Errors
/// Errors of the host, and of the function itself.
pub async fn run<H: Host>(
    block: &Block,
    of: Called<'_>,
    parameters: Vec<Given<H::Value>>,
    outputs: &[usize],
    host: &mut H,
) -> Result<Ended<H::Value>> {
    host.set_conflict(block.conflict);
    let count = parameters.len();
    let machine = Machine::new(host, of, parameters);
    let mut machine = Machine { outputs, prints_strict: block.prints_strict, ..machine };
    let flow = machine.block(block).await.and_then(within_loops);
    let returned = match flow.map_err(|error| machine.located(error))? {
        Flow::Return(value) => Some(value),
        _ => None,
    };
    let parameters = machine.scopes.parameters(count);
    let rows = machine.rows;
    Ok(Ended { returned: returned.flatten(), rows, parameters })
}

/// Where the outermost block leads.
fn within_loops<V>(flow: Flow<V>) -> Result<Flow<V>> {
    match flow {
        Flow::Next | Flow::Return(_) => Ok(flow),
        Flow::Exit(_) | Flow::Continue(_) => {
            let what = "EXIT or CONTINUE cannot be used outside a loop, unless it has a label";
            Err(Error::new(SqlState::SyntaxError, what))
        }
    }
}

/// A running function.
struct Machine<'h, H: Host> {
    host: &'h mut H,
    scopes: Scopes<H::Value>,
    /// The place of FOUND among the first variables.
    found: usize,
    rows: Vec<Vec<H::Value>>,
    /// ROW_COUNT.
    row_count: u64,
    /// The errors that the handlers around are for, the innermost last.
    errors: Vec<Error>,
    /// The places of the parameters that make a result.
    outputs: &'h [usize],
    /// The row that a function of a trigger has returned; `None` for other functions.
    returned_row: Option<Option<Vec<H::Value>>>,
    /// The blocks with handlers around.
    protected: usize,
    /// The form of its result, if it is checked.
    form: Option<Form<'h>>,
    /// The function, as errors name it.
    signature: &'h str,
    /// The statement that has failed.
    failed: Option<Place>,
    /// Whether the error is raised again, and has a place already.
    raises_again: bool,
    /// The id of the function.
    id: i64,
    /// Whether errors of INTO STRICT have the values of parameters.
    prints_strict: bool,
}

impl<'h, H: Host> Machine<'h, H> {
    /// A function that begins, with FOUND.
    fn new(host: &'h mut H, of: Called<'h>, parameters: Vec<Given<H::Value>>) -> Self {
        host.programs().begin(parameters.iter().map(|(_, of, _)| of));
        let mut slots = Vec::with_capacity(parameters.len() + 1);
        for (name, of, value) in parameters {
            slots.push(Slot::new(name, rows::content(&*host, of, value)));
        }
        let found = slots.len();
        let content = Content::Value { of: TRUTH.clone(), value: host.of_truth(false) };
        slots.push(Slot::new(FOUND.clone(), content));
        Self {
            host,
            scopes: Scopes::new(of.name, slots),
            found,
            rows: Vec::new(),
            row_count: 0,
            errors: Vec::new(),
            outputs: &[],
            returned_row: None,
            protected: 0,
            form: None,
            signature: of.signature,
            failed: None,
            raises_again: false,
            id: of.id,
            prints_strict: false,
        }
    }
}
