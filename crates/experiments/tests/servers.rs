//! `pando bench` on servers that are processes.

use serde_json::Value;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The program `pando` next to `pando-bench`, which starts its servers with it.
///
/// `cargo test --profile quick NAME` builds the binaries of all packages before it runs tests. With `-p experiments` alone it
/// does not build `pando`: then a missing or outdated binary fails the test.
fn pando() -> &'static Path {
    static PANDO: OnceLock<PathBuf> = OnceLock::new();
    PANDO.get_or_init(|| {
        let pando = Path::new(env!("CARGO_BIN_EXE_pando-bench")).with_file_name("pando");
        let newer = newer_sources(&pando);
        assert!(
            newer.as_ref().is_ok_and(Vec::is_empty),
            "{} is missing or outdated ({newer:?}): test the workspace (cargo test --profile quick NAME)",
            pando.display()
        );
        pando
    })
}

/// The sources of a program that are newer than it, by the list that `cargo build` writes: `program: source source ...`.
/// `cargo test` alone writes none.
fn newer_sources(program: &Path) -> std::io::Result<Vec<String>> {
    let built = fs::metadata(program)?.modified()?;
    let list = match fs::read_to_string(program.with_extension("d")) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        list => list?.replace("\\ ", "\0"),
    };
    let (_, sources) = list.split_once(": ").unwrap_or_default();
    let sources = sources.split_whitespace().map(|source| source.replace('\0', " "));
    let is_newer = |source: &String| {
        let modified = fs::metadata(source).and_then(|source| source.modified());
        modified.is_ok_and(|modified| modified > built)
    };
    Ok(sources.filter(is_newer).collect())
}

/// A program without the variables that configure clients.
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).env("NO_COLOR", "1").env("HOME", "/nonexistent");
    for variable in ["PGPASSWORD", "PGSSLMODE", "PGPASSFILE", "PGHOST", "PGPORT", "PGUSER"] {
        command.env_remove(variable);
    }
    command
}

/// `pando-bench --json` with the words of a line as arguments.
fn bench(line: &str) -> Command {
    pando();
    let mut command = command(Path::new(env!("CARGO_BIN_EXE_pando-bench")));
    command.arg("--json").args(line.split_whitespace());
    command
}

/// The text of standard output and standard error.
fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// The results of an experiment, which must succeed.
fn results(line: &str) -> Vec<Value> {
    results_of(&bench(line).output().expect("pando-bench runs"), line)
}

fn results_of(output: &Output, line: &str) -> Vec<Value> {
    let (stdout, stderr) = texts(output);
    assert!(output.status.success(), "{line}: {stderr}");
    let parsed = stdout.lines().map(serde_json::from_str);
    parsed.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{line}: {error}: {stdout}"))
}

/// The number of servers in a result, and the sum of one of their figures.
fn sum(result: &Value, figure: &str) -> (usize, u64) {
    let servers = result["per_server"].as_array().expect("a list");
    let figures = servers.iter().map(|server| server[figure].as_u64().expect(figure));
    (servers.len(), figures.sum())
}

#[test]
fn server_processes_find_pairs() {
    let results = results("person --rows 1000 --servers 3 --runs 2");
    assert_eq!(results.len(), 2);
    for (result, query) in results.iter().zip(["count", "pairs"]) {
        assert_eq!(result["query"], query);
        assert_eq!(result["pairs"], 9_500, "{result}");
        assert_eq!(result["per_server"][2]["server"], "c");
        assert!(result["cpu_seconds"].is_f64() && result["client_cpu_seconds"].is_f64());
        let messages = result["messages"].as_u64().expect("a number");
        assert!(messages > 0, "{result}");
        assert_eq!(sum(result, "messages_sent"), (3, messages));
    }
    assert!(sum(&results[1], "bytes_sent").1 > sum(&results[0], "bytes_sent").1);
}

#[test]
fn growth_is_relative_to_the_first_step() {
    let line = "person --speed-up --rows 1000 --steps 1,2 --runs 1 --strategy storage --in-process";
    let results = results(line);
    assert_eq!(results.len(), 3, "a count for each step, and the growth");
    assert!(results.iter().take(2).all(|result| result["strategy"] == "storage"));
    assert!(results[1]["cpu_seconds"].is_null(), "the servers are in one process");
    let growth = &results[2];
    assert_eq!((&growth["series"], &growth["to_servers"]), (&"speed-up".into(), &2.into()));
    assert!(growth["percent"].as_f64().is_some_and(|percent| percent > 0.0), "{growth}");
}

#[test]
fn clients_of_all_servers_run_keyed_statements() {
    let results = results("keyed --servers 1,2 --clients 2");
    let of = |name: &str| results.iter().filter(|result| result[name].is_f64()).count();
    assert_eq!(of("per_second"), 8, "two numbers of servers and of relations, two kinds");
    assert_eq!(of("two_relations_percent"), 4);
    assert_eq!(of("scalability_percent"), 4);
    let alone = results.iter().find(|result| result["servers"] == 1).expect("one server");
    assert_eq!(alone["messages"], 0.0, "{alone}");
    let together = results.iter().filter(|result| result["servers"] == 2);
    let messages = together.filter_map(|result| result["messages"].as_f64());
    assert!(messages.into_iter().all(|messages| messages > 0.5));
}

#[test]
fn the_storage_strategy_does_not_list_pairs() {
    let refused = "person --servers 2 --strategy storage --query pairs";
    let output = bench(refused).output().expect("pando-bench runs");
    let (stdout, stderr) = texts(&output);
    assert!(!output.status.success() && stdout.is_empty(), "{stdout}");
    assert!(stderr.contains("--query count") && stderr.contains("--strategy engine"), "{stderr}");
    let warns = stderr.contains("its times say nothing");
    assert_eq!(warns, cfg!(debug_assertions), "a test build warns: {stderr}");
}

#[test]
fn pando_bench_is_this_program() {
    let mut line = command(pando());
    let output = line.args(["bench", "smart-disk", "--json"]).output().expect("pando runs");
    assert!(results_of(&output, "bench smart-disk").len() > 10);
    let output = command(pando()).args(["bench", "--help"]).output().expect("pando runs");
    let (stdout, _) = texts(&output);
    assert!(stdout.contains("smart-disk") && stdout.contains("Usage: pando bench"), "{stdout}");
    let output = command(pando()).args(["bench", "dance"]).output().expect("pando runs");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_closed_output_is_no_error() {
    let mut line = command(Path::new(env!("CARGO_BIN_EXE_pando-bench")));
    line.arg("smart-disk").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = line.spawn().expect("pando-bench starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("pando-bench ends");
    assert!(output.status.success() && output.stderr.is_empty(), "{:?}", texts(&output));
}

/// The child processes of a process.
fn children(of: u32) -> Vec<String> {
    let parent = |process: &str| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        let (_, fields) = stat.rsplit_once(')')?;
        fields.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let processes = fs::read_dir("/proc").expect("the system's processes");
    let names = processes.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| parent(name) == Some(of)).collect()
}

#[test]
fn a_signal_ends_an_experiment_and_its_servers() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = bench("person --rows 1000 --servers 2 --runs 1000000 --query count");
    command.env("TMPDIR", folder.path()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut experiment = command.spawn().expect("pando-bench starts");
    let started = Instant::now();
    let servers = loop {
        let servers = children(experiment.id());
        if servers.len() == 2 {
            break servers;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{servers:?}");
        std::thread::sleep(Duration::from_millis(20));
    };
    let id = experiment.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill runs").success());
    assert_eq!(experiment.wait().expect("pando-bench ends").code(), Some(1));
    for server in servers {
        assert!(!Path::new("/proc").join(&server).exists(), "{server} still runs");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("is there").count(), 0, "nothing is left");
}
