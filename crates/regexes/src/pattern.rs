//! Compiled patterns, and their matches.

use super::dissect::{Dissector, Spans};
use super::flags::Flags;
use super::syntax::{self, Parsed, invalid};
use super::translate::{has_preferences, prefers_long, translate};
use regex::Regex;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::pool::Pool;
use regex_automata::util::syntax::Config;
use regex_automata::{Anchored, Input, MatchKind};
use std::collections::HashMap;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, LazyLock, Mutex};
use values::error::Result;

/// Patterns that are kept compiled.
const KEPT: usize = 128;

/// A compiled pattern.
#[derive(Debug)]
pub struct Pattern {
    engine: Engine,
    /// Groups that capture.
    pub groups: usize,
}

#[derive(Debug)]
enum Engine {
    /// The match that is found is the match.
    Plain(Regex),
    /// The match begins where one is found, and ends elsewhere.
    Measured(Box<Measured>),
    Trial(Box<Dissector>),
}

/// Makes what a search of an automaton needs.
type NewCache = Box<dyn Fn() -> Cache + Send + Sync + UnwindSafe + RefUnwindSafe>;

/// A pattern whose matches are as long, or as short, as possible.
#[derive(Debug)]
struct Measured {
    regex: Regex,
    ends: Arc<DFA>,
    caches: Pool<Cache, NewCache>,
    is_longest: bool,
    /// Tells the groups, and the end where the automaton cannot.
    dissector: Option<Dissector>,
    /// Whether those that `regex` prefers may be others, though the match is the same.
    has_other_groups: bool,
}

impl Pattern {
    /// Compiles a pattern, unless it was just used.
    ///
    /// # Errors
    /// 2201B: it is no regular expression.
    pub fn of(text: &str, flags: Flags) -> Result<Arc<Self>> {
        type Kept = HashMap<(String, Flags), Arc<Pattern>>;
        static PATTERNS: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);
        let key = (text.to_owned(), flags);
        let lock = || PATTERNS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(pattern) = lock().get(&key) {
            return Ok(Arc::clone(pattern));
        }
        let pattern = Arc::new(Self::compile(text, flags)?);
        let mut patterns = lock();
        if patterns.len() >= KEPT {
            patterns.clear();
        }
        patterns.insert(key, Arc::clone(&pattern));
        Ok(pattern)
    }

    fn compile(text: &str, flags: Flags) -> Result<Self> {
        let Parsed { node, groups, flags } = syntax::parse(text, flags)?;
        let too_complex = || invalid("regular expression is too complex");
        let Some(text) = translate(&node, flags) else {
            let trial = Dissector::new(&node, groups, flags).ok_or_else(too_complex)?;
            return Ok(Self { engine: Engine::Trial(Box::new(trial)), groups });
        };
        let regex = Regex::new(&text).map_err(|_| too_complex())?;
        if !has_preferences(&node, false) {
            return Ok(Self { engine: Engine::Plain(regex), groups });
        }
        let config = DFA::config().match_kind(MatchKind::All).unicode_word_boundary(true);
        let ends = DFA::builder().configure(config).syntax(Config::new()).build(&text);
        let Ok(ends) = ends else { return Ok(Self { engine: Engine::Plain(regex), groups }) };
        let is_longest = prefers_long(&node).unwrap_or(true);
        let ends = Arc::new(ends);
        let of = Arc::clone(&ends);
        let caches = Pool::new(Box::new(move || Cache::new(&of)) as NewCache);
        let has_other_groups = groups > 0 && has_preferences(&node, true);
        let dissector = Dissector::new(&node, groups, flags);
        let measured = Measured { regex, ends, caches, is_longest, dissector, has_other_groups };
        Ok(Self { engine: Engine::Measured(Box::new(measured)), groups })
    }

    /// Whether there is a match.
    ///
    /// # Errors
    /// 54000: the search takes too long.
    pub fn is_match(&self, text: &str) -> Result<bool> {
        match &self.engine {
            Engine::Plain(regex) => Ok(regex.is_match(text)),
            Engine::Measured(measured) => Ok(measured.regex.is_match(text)),
            Engine::Trial(trial) => Ok(trial.find_at(text, 0)?.is_some()),
        }
    }

    /// The first match from a place on: itself, then its groups.
    ///
    /// # Errors
    /// 54000: the search takes too long.
    pub fn find_at(&self, text: &str, from: usize) -> Result<Option<Spans>> {
        match &self.engine {
            Engine::Plain(regex) => Ok(spans(regex, text, from)),
            Engine::Measured(measured) => Ok(measured.find_at(text, from)),
            Engine::Trial(trial) => trial.find_at(text, from),
        }
    }

    /// All matches, without overlaps. After an empty one the search goes on a character later.
    ///
    /// # Errors
    /// 54000: the search takes too long.
    pub fn find_all(&self, text: &str, mut from: usize) -> Result<Vec<Spans>> {
        let mut matches = Vec::new();
        while let Some(spans) = self.find_at(text, from)? {
            let (start, end) = spans[0].unwrap_or((from, from));
            matches.push(spans);
            from = end;
            if start == end {
                let Some(next) = text[end..].chars().next() else { break };
                from += next.len_utf8();
            }
        }
        Ok(matches)
    }
}

impl Measured {
    fn find_at(&self, text: &str, from: usize) -> Option<Spans> {
        let preferred = spans(&self.regex, text, from)?;
        let (start, preferred_end) = preferred[0]?;
        let dissector = self.dissector.as_ref();
        let end = self.end(text, start).or_else(|| dissector?.end_at(text, start));
        let end = end.unwrap_or(preferred_end);
        if end == preferred_end && !self.has_other_groups {
            return Some(preferred);
        }
        let dissector = dissector.filter(|_| preferred.len() > 1);
        let groups = dissector.and_then(|dissector| dissector.groups_of(text, (start, end)));
        let mut groups = groups.unwrap_or(preferred);
        groups[0] = Some((start, end));
        Some(groups)
    }

    /// The end of the match that begins at a place; `None` if the automaton cannot tell.
    fn end(&self, text: &str, start: usize) -> Option<usize> {
        let mut cache = self.caches.get();
        let input = Input::new(text).span(start..text.len()).anchored(Anchored::Yes);
        let found = self.ends.try_search_fwd(&mut cache, &input.earliest(!self.is_longest)).ok()?;
        found.map(|half| half.offset())
    }
}

fn spans(regex: &Regex, text: &str, from: usize) -> Option<Spans> {
    let mut locations = regex.capture_locations();
    regex.captures_read_at(&mut locations, text, from)?;
    Some((0..locations.len()).map(|group| locations.get(group)).collect())
}
