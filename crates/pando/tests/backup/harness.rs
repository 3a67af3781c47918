//! Servers, their backups, and what they answer.

#[path = "../served/mod.rs"]
mod served;

pub(crate) use served::{World, err, guarded_world, pando, world, world_of};
use std::path::{Path, PathBuf};
use std::process::Output;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

/// The password of superusers.
const PASSWORD: &str = "right";

/// A connection to a server, with the password that its superuser has if there is one.
pub(crate) async fn connect(world: &World) -> Client {
    let mut config: Config = world.url.parse().expect("a URL");
    let (client, connection) = config.password(PASSWORD).connect(NoTls).await.expect("connects");
    tokio::spawn(connection);
    client
}

/// All values of the rows of some statements.
pub(crate) async fn values(client: &Client, sql: &str) -> Vec<String> {
    let messages = client.simple_query(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let rows = messages.into_iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    rows.flat_map(|row| {
        let all = (0..row.len()).map(|at| row.get(at).unwrap_or("NULL").to_owned());
        all.collect::<Vec<_>>()
    })
    .collect()
}

/// The SQLSTATE and the message of a statement that must fail.
pub(crate) async fn refusal(client: &Client, sql: &str) -> (String, String) {
    let error = client.batch_execute(sql).await.expect_err("refused");
    let error = error.as_db_error().expect("of the server");
    (error.code().code().to_owned(), error.message().to_owned())
}

/// The folder of backups of a test, and its URL.
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    pub(crate) url: String,
}

impl World {
    /// The folder of the backups of this server.
    pub(crate) fn place(&self) -> Place {
        let folder = self.folder.path().join("backups here");
        let url = format!("file://{}", folder.display().to_string().replace(' ', "%20"));
        Place { folder, url }
    }

    /// What `pando backup` prints.
    pub(crate) fn back_up(&self, url: &str) -> String {
        let output = run(&["backup", url, "--server", &self.url]);
        assert!(output.status.success(), "{}", err(&output));
        String::from_utf8(output.stdout).expect("text")
    }

    /// A path in the folder of the test.
    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("text").to_owned()
    }

    /// A server on a new data directory that the newest backup has been restored into.
    pub(crate) fn restored(&self, url: &str, name: &str) -> World {
        let path = self.path(name);
        let output = run(&["restore", url, "--data", &path]);
        assert!(output.status.success(), "{}", err(&output));
        world(&["--data", &path])
    }
}

/// Runs the program.
pub(crate) fn run(arguments: &[&str]) -> Output {
    pando().args(arguments).env("PGPASSWORD", PASSWORD).output().expect("pando runs")
}

/// What the program says that must fail.
pub(crate) fn failure(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", err(&output));
    err(&output)
}

/// The files of a folder of a backup, ordered by name.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files
}
