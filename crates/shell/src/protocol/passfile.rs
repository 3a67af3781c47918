//! The password file of PostgreSQL's clients, with lines `host:port:database:user:password`.
//!
//! The first matching line is used. `*` matches everything, and a backslash escapes a colon or a backslash. A file that
//! other users can read is ignored.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Permission bits of group and others.
const OTHERS_MASK: u32 = 0o077;

/// `PGPASSFILE`, else `.pgpass` in the home directory.
pub(super) fn usual(environment: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let home = || Some(PathBuf::from(environment("HOME")?).join(".pgpass"));
    environment("PGPASSFILE").map(PathBuf::from).or_else(home)
}

/// The password for a host, port, database and user; none if there is no such file.
pub(super) fn find(file: &Path, wanted: [&str; 4]) -> Option<String> {
    let permissions = fs::metadata(file).ok()?.permissions().mode();
    if permissions & OTHERS_MASK != 0 {
        let file = file.display();
        eprintln!("WARNING: {file} is ignored, because other users can read it: chmod 0600 {file}");
        return None;
    }
    find_in(&fs::read_to_string(file).ok()?, wanted)
}

fn find_in(text: &str, wanted: [&str; 4]) -> Option<String> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line)?;
        let mut pairs = fields.iter().zip(wanted);
        pairs.all(|(field, wanted)| field == "*" || field == wanted).then(|| fields[4].clone())
    })
}

fn fields(line: &str) -> Option<[String; 5]> {
    let mut fields = vec![String::new()];
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields.last_mut()?.extend(chars.next()),
            c => fields.last_mut()?.push(c),
        }
    }
    fields.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_matching_line_is_used() {
        let text = "# note\nh:5432:d:ada:one\n*:5433:*:ada:t\\:w\\\\o\nbroken\n*:*:*:*:any:thing\n";
        let find = |host, port, user| find_in(text, [host, port, "d", user]);
        assert_eq!(find("h", "5432", "ada").as_deref(), Some("one"));
        assert_eq!(find("x", "5433", "ada").as_deref(), Some("t:w\\o"));
        assert_eq!(find("x", "5433", "bob").as_deref(), Some("any:thing"));
        assert_eq!(find_in("h:1:d:u:p", ["h", "2", "d", "u"]), None);
    }
}
