//! `when COND { … } else { … }` around items of a kernel and around statements of its schedule.
//!
//! The parser reads a kernel once for every version of it. Both branches are read each time, so that mistakes in either are
//! found; what stands in the branch this version does not take is dropped.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::{
    Token, braced,
    ext::IdentExt,
    parse::{ParseBuffer, ParseStream},
};

use super::{recover::error_here, word::any_word};
use crate::{
    near::way_out,
    report::Report,
    version::{Arch, Condition, Direction, Version},
};

pub(super) const IF: &str =
    "what only one architecture or direction gets stands in `when COND { … } else { … }`: write `when`";
pub(super) const STRAY_ELSE: &str = "`else` belongs directly behind the block of a `when COND { … }`; none ends here";

/// The version that is being read, and where.
pub(super) struct Reading {
    pub version: Version,
    /// The versions that take every branch around this place.
    reach: Vec<Version>,
    /// The conditions around this place, as they were written.
    around: Vec<String>,
    /// Whether any condition so far was on the architecture.
    pub by_arch: bool,
}

impl Reading {
    pub fn new(version: Version, all: &[Version]) -> Reading {
        Reading { version, reach: all.to_vec(), around: Vec::new(), by_arch: false }
    }

    /// Where this place stands: `` in `when v79` ``.
    pub fn place(&self) -> String {
        self.around.iter().map(|condition| format!("in {condition}")).collect::<Vec<_>>().join(" ")
    }

    /// Whether what is being read belongs to one architecture.
    pub fn depends_on_arch(&self) -> bool {
        self.reach.iter().all(|v| v.arch == self.reach[0].arch)
    }
}

/// Behind `when`: reads the branches with `branch`, which is told whether this version takes it.
pub(super) fn when(
    input: ParseStream<'_>,
    keyword: &Ident,
    reading: &mut Reading,
    report: &mut Report,
    branch: &mut dyn FnMut(&ParseBuffer<'_>, bool, &mut Reading, &mut Report),
) -> syn::Result<()> {
    let (condition, word) = match condition(input, reading) {
        Ok(known) => known,
        Err(error) => {
            skip_condition(input);
            if !input.peek(syn::token::Brace) {
                return Err(error);
            }
            // What a branch of an unknown condition declares is not unknown as well.
            report.syntax(error);
            branch(&block(input, "`{ … }` behind the condition")?, true, reading, report);
            return unknown_else(input, reading, report, branch);
        }
    };
    reading.by_arch |= matches!(condition, Condition::Arch(_));
    let outside = reading.reach.clone();
    let (then, rest): (Vec<_>, Vec<_>) = outside.iter().partition(|v| condition.holds(**v));
    if then.is_empty() {
        report.error(word.span(), untaken(condition, &format!("`when {word}`"), reading));
    }
    let content = block(input, &format!("`{{ … }}` behind `when {word}`"))?;
    let empty = content.is_empty();
    let taken = condition.holds(reading.version);
    inside(reading, then, format!("`when {word}`"), |reading| branch(&content, taken, reading, report));
    if !input.peek(Token![else]) {
        if empty {
            report.error(keyword.span(), format!("`when {word}` has nothing in it: remove it"));
        }
        reading.reach = outside;
        return Ok(());
    }
    let otherwise: Token![else] = input.parse()?;
    if rest.is_empty() && !outside.is_empty() {
        report.error(otherwise.span, untaken(condition, &format!("the `else` of `when {word}`"), reading));
    }
    let label = format!("the `else` of `when {word}`");
    let result = inside(reading, rest, label, |reading| {
        if input.peek(Token![if]) {
            return Err(error_here(input, "an `else` has a block or another `when`: write `else when COND { … }`"));
        }
        if input.peek(syn::token::Brace) {
            let content = block(input, "`{ … }`")?;
            if empty && content.is_empty() {
                report.error(keyword.span(), format!("both branches of `when {word}` are empty: remove it"));
            }
            branch(&content, !taken, reading, report);
            return Ok(());
        }
        let again = any_word(input, "`{ … }` or `when COND { … }` behind `else`")?;
        if again != "when" {
            return Err(syn::Error::new(again.span(), "expected `{ … }` or `when COND { … }` behind `else`"));
        }
        // A version that takes the branch above takes none of those below.
        when(input, &again, reading, report, &mut |content, inner, reading, report| {
            branch(content, inner && !taken, reading, report);
        })
    });
    reading.reach = outside;
    result
}

/// The `else` of a condition nobody knows.
fn unknown_else(
    input: ParseStream<'_>,
    reading: &mut Reading,
    report: &mut Report,
    branch: &mut dyn FnMut(&ParseBuffer<'_>, bool, &mut Reading, &mut Report),
) -> syn::Result<()> {
    if !input.peek(Token![else]) {
        return Ok(());
    }
    input.parse::<Token![else]>()?;
    if input.peek(syn::token::Brace) {
        branch(&block(input, "`{ … }`")?, false, reading, report);
        return Ok(());
    }
    let again = any_word(input, "`{ … }` or `when COND { … }` behind `else`")?;
    when(input, &again, reading, report, &mut |content, _, reading, report| branch(content, false, reading, report))
}

/// Reads with the versions and conditions of one branch.
fn inside<T>(reading: &mut Reading, reach: Vec<Version>, label: String, read: impl FnOnce(&mut Reading) -> T) -> T {
    let outside = std::mem::replace(&mut reading.reach, reach);
    reading.around.push(label);
    let result = read(reading);
    reading.around.pop();
    reading.reach = outside;
    result
}

fn block<'a>(input: ParseStream<'a>, expected: &str) -> syn::Result<ParseBuffer<'a>> {
    if !input.peek(syn::token::Brace) {
        return Err(error_here(input, format!("expected {expected}")));
    }
    let content;
    braced!(content in input);
    Ok(content)
}

fn condition(input: ParseStream<'_>, reading: &Reading) -> syn::Result<(Condition, Ident)> {
    let archs = Arch::ALL.map(Condition::Arch);
    let directions = Direction::ALL.map(Condition::Direction);
    let two_directions = reading.version.direction.is_some();
    let list =
        |conditions: &[Condition]| conditions.iter().map(|c| format!("`{}`", c.word())).collect::<Vec<_>>().join(", ");
    let mut expected = format!("an architecture ({})", list(&archs));
    if two_directions {
        expected.push_str(&format!(" or a direction ({})", list(&directions)));
    }
    let written = skip_condition(&input.fork());
    if written.is_empty() || (input.peek(Ident::peek_any) && input.peek2(syn::token::Brace)) {
        return known(input, &expected, two_directions);
    }
    let written = written.to_string();
    let named = written.split(|c: char| !c.is_alphanumeric() && c != '_');
    let words: Vec<_> =
        archs.iter().chain(&directions).map(|c| c.word()).filter(|&word| named.clone().any(|w| w == word)).collect();
    let way_out = match words.as_slice() {
        [word] if written.contains('!') => format!("write `when {word} {{ … }} else {{ … }}` and use the `else`"),
        [word] => format!("write `when {word} {{ … }}`"),
        _ => "an `else` has what remains, and a `when` may stand in another; what every case takes needs none".into(),
    };
    Err(error_here(input, format!("a condition is one word, {expected}; `{written}` is not: {way_out}")))
}

/// Everything up to the block of a `when`.
fn skip_condition(input: ParseStream<'_>) -> TokenStream {
    let mut written = TokenStream::new();
    while !input.is_empty() && !input.peek(syn::token::Brace) && !input.peek(Token![;]) {
        match input.parse::<TokenTree>() {
            Ok(token) => written.extend([token]),
            Err(_) => break,
        }
    }
    written
}

fn known(input: ParseStream<'_>, expected: &str, two_directions: bool) -> syn::Result<(Condition, Ident)> {
    let archs = Arch::ALL.map(Condition::Arch);
    let directions = Direction::ALL.map(Condition::Direction);
    let word = any_word(input, expected)?;
    let found = archs.iter().chain(&directions).find(|c| word == c.word());
    match found {
        Some(Condition::Direction(_)) if !two_directions => Err(syn::Error::new(
            word.span(),
            format!("this kernel has one direction: `when {word}` needs `kernel NAME for forward, input_grad {{ … }}`"),
        )),
        Some(condition) => Ok((*condition, word)),
        None => {
            let known = directions.iter().filter(|_| two_directions).chain(&archs).map(|c| c.word());
            let way_out = way_out(&word.to_string(), known, &format!("expected {expected}"));
            Err(syn::Error::new(word.span(), format!("unknown condition `{word}` behind `when`: {way_out}")))
        }
    }
}

fn untaken(condition: Condition, what: &str, reading: &Reading) -> String {
    let who = match condition {
        Condition::Arch(_) => "architecture",
        Condition::Direction(_) => "direction",
    };
    format!("no {who} takes {what}: it stands {}", reading.place())
}

/// `for forward, input_grad` behind the name of a kernel.
pub(super) fn directions(input: ParseStream<'_>) -> syn::Result<bool> {
    if !input.peek(Token![for]) {
        return Ok(false);
    }
    input.parse::<Token![for]>()?;
    let mut seen: Vec<(Direction, Span)> = Vec::new();
    loop {
        let (direction, word) =
            super::word::one_of(input, "direction", &Direction::ALL.map(|direction| (direction.word(), direction)))?;
        if seen.iter().any(|(d, _)| *d == direction) {
            return Err(syn::Error::new(word.span(), format!("direction `{word}` stands here twice")));
        }
        seen.push((direction, word.span()));
        if !input.peek(Token![,]) {
            break;
        }
        input.parse::<Token![,]>()?;
    }
    match seen.as_slice() {
        [(one, span)] => Err(syn::Error::new(
            *span,
            format!("a kernel for `{}` alone needs no `for`: drop it, or write `for forward, input_grad`", one.word()),
        )),
        _ => Ok(true),
    }
}
