//! `pando bench` on servers that are processes of their own.

use crate::harness::{pando, told};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What `pando bench` prints for programs; it must succeed.
fn results(line: &str) -> Vec<Value> {
    let mut command = bench(line);
    let (is_content, shown, stderr) = told(&command.output().expect("pando runs"));
    assert!(is_content, "{line}: {stderr}");
    let parsed = shown.lines().map(serde_json::from_str);
    parsed.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{line}: {error}: {shown}"))
}

fn bench(line: &str) -> Command {
    let mut command = pando(&["bench", "--json"]);
    command.args(line.split_whitespace());
    command
}

/// The objects of the servers, and the sum of one of their figures.
fn sum(result: &Value, figure: &str) -> (usize, u64) {
    let servers = result["per_server"].as_array().expect("a list");
    let figures = servers.iter().map(|server| server[figure].as_u64().expect(figure));
    (servers.len(), figures.sum())
}

#[test]
fn pairs_are_found_by_servers_that_are_processes() {
    let results = results("person --rows 1000 --servers 3 --runs 2");
    assert_eq!(results.len(), 2);
    for (result, query) in results.iter().zip(["count", "pairs"]) {
        assert_eq!(result["query"], query);
        assert_eq!(result["pairs"], 9_500, "{result}");
        assert_eq!(result["per_server"][2]["server"], "c");
        assert!(result["cpu_seconds"].is_f64() && result["client_cpu_seconds"].is_f64());
        let stderr = result["messages"].as_u64().expect("a number");
        assert!(stderr > 0, "{result}");
        assert_eq!(sum(result, "messages_sent"), (3, stderr));
    }
    assert!(sum(&results[1], "bytes_sent").1 > sum(&results[0], "bytes_sent").1);
}

#[test]
fn growth_is_told_relative_to_the_first_step() {
    let line = "person --speed-up --rows 1000 --steps 1,2 --runs 1 --strategy storage --in-process";
    let results = results(line);
    assert_eq!(results.len(), 3, "a count for each step, and how it grew");
    assert!(results.iter().take(2).all(|result| result["strategy"] == "storage"));
    assert!(results[1]["cpu_seconds"].is_null(), "servers of one process share it");
    let growth = &results[2];
    assert_eq!((&growth["series"], &growth["to_servers"]), (&"speed-up".into(), &2.into()));
    assert!(growth["percent"].as_f64().is_some_and(|percent| percent > 0.0), "{growth}");
}

#[test]
fn keyed_statements_are_run_by_clients_of_all_servers() {
    let results = results("keyed --servers 1,2 --clients 2");
    let of = |name: &str| results.iter().filter(|result| result[name].is_f64()).count();
    assert_eq!(of("per_second"), 8, "two numbers of servers and of relations, two kinds");
    assert_eq!(of("two_relations_percent"), 4);
    assert_eq!(of("scalability_percent"), 4);
    let alone = results.iter().find(|result| result["servers"] == 1).expect("one server");
    assert_eq!(alone["messages"], 0.0, "{alone}");
    let together = results.iter().filter(|result| result["servers"] == 2);
    let stderr = together.filter_map(|result| result["messages"].as_f64());
    assert!(stderr.into_iter().all(|messages| messages > 0.5));
}

#[test]
fn storage_has_no_pairs_to_show() {
    let mut command = bench("person --servers 2 --strategy storage --query pairs");
    let (is_content, shown, stderr) = told(&command.output().expect("pando runs"));
    assert!(!is_content && shown.is_empty(), "{shown}");
    assert!(stderr.contains("--query count") && stderr.contains("--strategy engine"), "{stderr}");
}

#[test]
fn builds_for_tests_say_that_their_times_say_nothing() {
    let is_said = |mut command: Command| {
        told(&command.output().expect("pando runs")).2.contains("its times say nothing")
    };
    let refused = "person --servers 2 --strategy storage --query pairs";
    assert_eq!(is_said(bench(refused)), cfg!(debug_assertions));
    assert!(!is_said(pando(&["predict", "--query", "q6"])), "simulated times are the same");
}

/// The processes that a process has started.
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
fn servers_end_with_an_experiment_that_is_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = bench("person --rows 1000 --servers 2 --runs 1000000 --query count");
    command.env("TMPDIR", folder.path()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut experiment = command.spawn().expect("pando starts");
    let begun = Instant::now();
    let servers = loop {
        let servers = children(experiment.id());
        if servers.len() == 2 {
            break servers;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{servers:?}");
        std::thread::sleep(Duration::from_millis(20));
    };
    let id = experiment.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill runs").success());
    assert_eq!(experiment.wait().expect("it ends").code(), Some(1));
    for server in servers {
        assert!(!Path::new("/proc").join(&server).exists(), "{server} goes on");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("is there").count(), 0, "nothing is left");
}
