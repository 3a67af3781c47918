//! A query in a task, while the statements of its functions are executed.

mod collected;

pub(crate) use collected::collected;

use crate::context::call_site::{Request, Requests};
use procedural::Statements;
use store::DistributedSavepoint;
use values::error::{Error, Result, SqlState};

/// What executes the statements of functions.
pub(crate) trait Serves: Statements<Savepoint = DistributedSavepoint> {
    /// Sets the number of functions around the next statement.
    fn set_depth(&mut self, depth: usize);
}

/// Awaits work that calls functions, and executes their statements meanwhile.
///
/// # Errors
/// Those of the work.
pub(crate) async fn served<T: Send + 'static>(
    requests: &mut Requests,
    server: &mut impl Serves,
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let _serving = requests.begin();
    let mut task = procedural::task(work);
    loop {
        tokio::select! {
            biased;
            done = &mut task => {
                return done.unwrap_or_else(|_| {
                    let message = "a function ended early; the log says why";
                    Err(Error::new(SqlState::InternalError, message))
                });
            }
            Some(request) = requests.requests.recv() => answer(server, request).await,
        }
    }
}

async fn answer(server: &mut impl Serves, request: Request) {
    // A function that does not wait any more has been stopped.
    match request {
        Request::Run(asked, reply) => {
            server.set_depth(asked.depth);
            let done = server.run(&asked.statement, &asked.names, &asked.values, asked.limit).await;
            let _ = reply.send(done);
        }
        Request::Mark(reply) => {
            let _ = reply.send(server.savepoint().await);
        }
        Request::Return(to, reply) => {
            let _ = reply.send(server.roll_back(*to).await);
        }
    }
}
