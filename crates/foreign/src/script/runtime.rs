//! A heap with a script, within limits.

use super::arguments::Column;
use crate::definition::Definition;
use crate::failure::{invalid, out_of_memory, raised};
use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::function::Args;
use rquickjs::{Coerced, Context, Ctx, Exception, Function, Runtime, Value};
use std::cell::RefCell;
use std::rc::Rc;
use values::error::{Error, Result, SqlState};

/// What is removed before a script begins.
const PRELUDE: &str = include_str!("prelude.js");

/// What a script may use: everything but clocks of high resolution and references that the collector clears.
type Intrinsics = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// A heap with the function of a definition.
pub(super) struct Script<'a> {
    definition: &'a Definition,
    body: &'a str,
    context: Context,
    /// Why the script has been interrupted.
    ended: Rc<RefCell<Option<Error>>>,
}

/// A script that runs.
pub(super) struct Program<'a, 'js> {
    script: &'a Script<'a>,
    pub(super) ctx: Ctx<'js>,
}

impl<'a> Script<'a> {
    /// An empty heap.
    pub(super) fn start(definition: &'a Definition, body: &'a str) -> Result<Self> {
        let none = || out_of_memory(&definition.name, definition.limits.memory);
        let runtime = Runtime::new().map_err(|_| none())?;
        runtime.set_memory_limit(definition.limits.memory);
        runtime.set_max_stack_size(definition.limits.stack);
        let ended = Rc::new(RefCell::new(None));
        let note = Rc::clone(&ended);
        runtime.set_interrupt_handler(Some(Box::new(move || match executor::check() {
            Ok(()) => false,
            Err(error) => {
                note.borrow_mut().get_or_insert(error);
                true
            }
        })));
        let context = Context::custom::<Intrinsics>(&runtime).map_err(|_| none())?;
        Ok(Self { definition, body, context, ended })
    }

    /// Runs `work` with the function.
    pub(super) fn within<T>(
        &self,
        work: impl for<'js> FnOnce(&Program<'_, 'js>, &Function<'js>) -> Result<T>,
    ) -> Result<T> {
        self.context.with(|ctx| {
            let program = Program { script: self, ctx };
            let prepared = program.ctx.eval::<(), _>(PRELUDE);
            prepared.map_err(|error| program.failed(&error))?;
            let function = program.function()?;
            work(&program, &function)
        })
    }
}

impl<'js> Program<'_, 'js> {
    /// The function of the definition.
    fn function(&self) -> Result<Function<'js>> {
        let definition = self.script.definition;
        let mut names = Vec::new();
        for (at, parameter) in definition.signature.parameters.iter().enumerate() {
            names.push(match parameter.name.as_str() {
                "" => format!("${}", at + 1),
                name => identifier(name)?.to_owned(),
            });
        }
        let text = format!("(function ({}) {{{}\n}})", names.join(", "), self.script.body);
        let mut options = EvalOptions::default();
        options.filename = Some(definition.name.clone());
        let made = self.ctx.eval_with_options::<Value<'js>, _>(text, options);
        let made = made.map_err(|error| match self.ended() {
            Some(ended) => ended,
            None => {
                let reason = self.failed(&error);
                let message = "the source is no body of a JavaScript function";
                invalid(message).with_detail(reason.message().to_owned())
            }
        })?;
        let none = || invalid("the source is no body of a JavaScript function");
        made.into_function().ok_or_else(none)
    }

    /// The value of the function for a row.
    pub(super) fn called(
        &self,
        function: &Function<'js>,
        columns: &[Column<'_>],
        row: usize,
    ) -> Result<Value<'js>> {
        let mut arguments = Args::new(self.ctx.clone(), columns.len());
        for column in columns {
            let value = column.value(&self.ctx, row);
            let pushed = value.and_then(|value| arguments.push_arg(value));
            pushed.map_err(|error| self.failed(&error))?;
        }
        function.call_arg(arguments).map_err(|error| self.failed(&error))
    }

    /// The definition of the function.
    pub(super) fn definition(&self) -> &Definition {
        self.script.definition
    }

    /// The error of a script that did not return.
    pub(super) fn failed(&self, error: &rquickjs::Error) -> Error {
        let definition = self.script.definition;
        let thrown = match error {
            rquickjs::Error::Exception => self.ctx.catch(),
            rquickjs::Error::Allocation => {
                return self.ended().unwrap_or_else(|| self.full());
            }
            rquickjs::Error::Utf8(_) => {
                let message = format!("function {} returned no valid Unicode", definition.name);
                return Error::new(SqlState::CharacterNotInRepertoire, message);
            }
            other => return raised(definition, &other.to_string()),
        };
        if let Some(ended) = self.ended() {
            return ended;
        }
        // The engine throws null if a full heap has no room for an error. Functions of users do so hardly ever.
        if thrown.is_null() {
            return self.full().with_detail("It threw null, as a full heap does.");
        }
        let (what, place) = self.shown(&thrown);
        // Reading what was thrown may run the script's code.
        if let Some(ended) = self.ended() {
            return ended;
        }
        if what.contains("out of memory") {
            return self.full();
        }
        match place {
            Some(place) => raised(definition, &what).with_context(place),
            None => raised(definition, &what),
        }
    }

    /// What was thrown, and where.
    fn shown(&self, thrown: &Value<'js>) -> (String, Option<String>) {
        let exception = thrown.as_object().cloned().and_then(Exception::from_object);
        if let Some(exception) = exception {
            let name = exception.get::<_, Coerced<String>>("name");
            let name = name.map_or_else(|_| "Error".to_owned(), |name| name.0);
            let text = match exception.message() {
                Some(message) if !message.is_empty() => format!("{name}: {message}"),
                _ => name,
            };
            let stack = exception.stack();
            let place = stack.and_then(|stack| Some(stack.lines().next()?.trim().to_owned()));
            return (printable(&text), place.map(|place| printable(&place)));
        }
        let text = match thrown.as_string().map(rquickjs::String::to_string) {
            Some(Ok(text)) => text,
            _ => format!("a value of type {}", thrown.type_name()),
        };
        (format!("it threw {}", printable(&text)), None)
    }

    /// Why the script has been ended from outside.
    fn ended(&self) -> Option<Error> {
        self.script.ended.borrow().clone()
    }

    fn full(&self) -> Error {
        out_of_memory(&self.script.definition.name, self.script.definition.limits.memory)
    }
}

/// The most characters of a script's message that are shown.
const SHOWN_MAX: usize = 500;

/// A text without zero bytes and not too long.
fn printable(text: &str) -> String {
    text.chars().filter(|letter| *letter != '\0').take(SHOWN_MAX).collect()
}

/// A name that JavaScript has, too.
fn identifier(name: &str) -> Result<&str> {
    let is_first = |letter: char| letter.is_alphabetic() || matches!(letter, '_' | '$');
    let is_next = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
    match name.starts_with(is_first) && name.chars().all(is_next) {
        true => Ok(name),
        false => {
            Err(invalid(format!("\"{name}\" cannot be the name of a parameter in JavaScript")))
        }
    }
}
