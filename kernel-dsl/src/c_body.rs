//! What the C of an author's step may not hold. `kernel_gen` compiles this file as well, to check kernels built by hand.

/// One mistake in a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// Line of the body's text, from 1.
    pub line: usize,
    /// Column of that line, in characters from 1.
    pub column: usize,
    /// What stands there, in words that follow "in the body of step `NAME`, PLACE:".
    pub what: String,
    /// What to do.
    pub help: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Mark,
    Other,
}

#[derive(Debug, Clone, Copy)]
struct Token<'c> {
    kind: Kind,
    text: &'c str,
    /// Byte of the body it begins at.
    start: usize,
}

const BALANCE: &str = "balance the brackets";
const MEMORY: &str = "memory is read with `pf_vload…` and written with `pf_vstore`, which the models check; plain C passes by \
                      them. An array of the body's own may be indexed: declare it there, `uint32_t words[32];`";
const STATE: &str = "workers run the body at the same time, and tiles come in no fixed order: compute what is needed anew, or \
                     take a table that is `static const`";

const CALLS: &str = "a body calls operations of the device layer, `pf_v…`, and macros in capitals, nothing else";
const SPELLING: &str = "write the mark itself";

/// Whether a word in front of `(` is no function of another library: an operation of the device layer, a macro by its capitals, or
/// a word of C that takes brackets.
fn callable(word: &str) -> bool {
    const WORDS: [&str; 10] =
        ["if", "for", "while", "switch", "return", "sizeof", "case", "else", "_Alignof", "volatile"];
    word.starts_with("pf_") || WORDS.contains(&word) || word.chars().all(|c| !c.is_lowercase())
}

/// Words with a meaning a body has no use for, and why.
fn refused(word: &str) -> Option<&'static str> {
    const ENDINGS: [&str; 9] =
        ["exit", "_exit", "_Exit", "quick_exit", "abort", "longjmp", "setjmp", "signal", "raise"];
    const ALLOCATION: [&str; 5] = ["malloc", "calloc", "realloc", "free", "alloca"];
    const COPIES: [&str; 8] = ["memcpy", "memmove", "memset", "mempcpy", "strcpy", "strncpy", "bcopy", "bzero"];
    const SCHEDULE: [&str; 16] = [
        "pf_hmx",
        "pf_dma",
        "pf_vtcm",
        "pf_window",
        "pf_parallel",
        "pf_scatter",
        "pf_vscatter",
        "pf_begin",
        "pf_own",
        "pf_check",
        "pf_trap",
        "pf_set_step",
        "pf_region",
        "pf_vload_ddr",
        "pf_vstore_ddr",
        "pf_vload_output",
    ];
    match word {
        "asm" | "__asm" | "__asm__" => Some("no model runs assembler: use the vector operations of the device layer"),
        "extern" | "_Thread_local" => Some(STATE),
        _ if ENDINGS.contains(&word) => Some("a step ends where its body ends"),
        _ if ALLOCATION.contains(&word) => Some("vectors and arrays of the body's own need no allocation"),
        _ if COPIES.contains(&word) || word.starts_with("__builtin_") => Some(MEMORY),
        _ if SCHEDULE.iter().any(|prefix| word.starts_with(prefix)) => {
            Some("that belongs to the schedule: a step turns one tile in VTCM into one tile in VTCM")
        }
        _ => None,
    }
}

/// Whether a word can begin a type.
fn names_type(word: &str) -> bool {
    const TYPES: [&str; 20] = [
        "bool",
        "_Bool",
        "enum",
        "union",
        "HVX_Vector",
        "void",
        "char",
        "short",
        "int",
        "long",
        "float",
        "double",
        "signed",
        "unsigned",
        "const",
        "volatile",
        "struct",
        "pf_vec",
        "pf_vec_pair",
        "pf_qf32",
    ];
    TYPES.contains(&word) || word == "pf_qf32_pair" || word.ends_with("_t")
}

/// Everything that is wrong with a body, in the order it stands there; after a bracket or a comment that does not match, nothing
/// more.
pub(crate) fn mistakes(body: &str) -> Vec<Mistake> {
    let mut found = Vec::new();
    let mut mistake = |start: usize, what: String, help| {
        let (line, column) = place(body, start);
        // The same twice in a line is one.
        if !found.iter().any(|m: &Mistake| m.line == line && m.what == what) {
            found.push(Mistake { line, column, what, help });
        }
    };
    let tokens = match tokens(body) {
        Ok(tokens) => tokens,
        Err(Open { start, what }) => {
            mistake(start, what.to_string(), "close it");
            return found;
        }
    };
    if let Some((start, what)) = unbalanced(&tokens) {
        mistake(start, what, BALANCE);
        return found;
    }
    let text = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |token| token.text);
    let mut arrays: Vec<&str> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let (before, start) = (at.checked_sub(1), token.start);
        match (token.kind, token.text) {
            (Kind::Word, "static") if constant_table(&tokens, at) => {}
            (Kind::Word, "static") => mistake(start, "a `static` keeps state".into(), STATE),
            (Kind::Word, word) => {
                if let Some(help) = refused(word) {
                    mistake(start, format!("`{word}` is used"), help);
                } else if called(&tokens, at) && !callable(word) {
                    mistake(start, format!("`{word}` is called"), CALLS);
                }
            }
            (Kind::Mark, "#") => mistake(
                start,
                "`#` is for the preprocessor".into(),
                "the models must run what the phone runs: write it out",
            ),
            (Kind::Mark, mark @ ("<:" | "%:" | "<%")) => {
                let plain = match mark {
                    "<:" => "[",
                    "%:" => "#",
                    _ => "{",
                };
                mistake(start, format!("`{mark}` is a second spelling of `{plain}`"), SPELLING);
            }
            (Kind::Mark, "??") => mistake(start, "`??` begins a second spelling of a mark".into(), SPELLING),
            (Kind::Mark, "->") => mistake(start, "`->` takes apart what a pointer points to".into(), MEMORY),
            (Kind::Mark, "*") if dereferences(&tokens, at) => {
                mistake(start, "`*` takes what a pointer points to".into(), MEMORY);
            }
            (Kind::Mark, "[") => {
                let base = text(before);
                let two_before = at.checked_sub(2);
                let declared = before.is_some_and(|b| tokens[b].kind == Kind::Word)
                    && two_before.is_some_and(|b| tokens[b].kind == Kind::Word && names_type(tokens[b].text));
                if declared {
                    arrays.push(base);
                } else if !arrays.contains(&base) && !["]", "{", ","].contains(&base) || text(two_before) == "." {
                    mistake(start, format!("`[` takes an element of `{base}`"), MEMORY);
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether brackets follow the word at `at`, or the brackets around it alone.
fn called(tokens: &[Token<'_>], at: usize) -> bool {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let within = at > 0 && text(at - 1) == "(" && text(at + 1) == ")" && !names_type(text(at));
    text(at + 1) == "(" || within && text(at + 2) == "(" && !(at > 1 && tokens[at - 2].kind == Kind::Word)
}

/// Whether the `static` at `at` begins a table that nothing can change.
fn constant_table(tokens: &[Token<'_>], at: usize) -> bool {
    let declared = tokens[at..].iter().take_while(|token| !["=", ";", "{"].contains(&token.text));
    let before = at.checked_sub(1).is_some_and(|before| tokens[before].text == "const");
    let (mut constant, mut pointer) = (before, false);
    for token in declared {
        constant |= token.text == "const";
        pointer |= token.text == "*";
    }
    constant && !pointer
}

/// Whether the `*` at `at` is neither a product nor part of a type.
fn dereferences(tokens: &[Token<'_>], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return true };
    match (tokens[before].kind, tokens[before].text) {
        (Kind::Word, word) => ["return", "case", "else", "do"].contains(&word),
        (Kind::Mark, ")") if closes_head(tokens, before) => true,
        (Kind::Mark, ")") => {
            // A cast, or a factor in parentheses.
            let inside = tokens[..before].iter().rev().take_while(|token| token.text != "(");
            let mut inside = inside.peekable();
            inside.peek().is_some() && inside.all(|t| t.text == "*" || t.kind == Kind::Word && names_type(t.text))
        }
        (Kind::Mark, "]") => false,
        // Behind a value it is i++ times something, elsewhere ++*p.
        (Kind::Mark, "++" | "--") => {
            let operand = before.checked_sub(1).map(|at| &tokens[at]);
            !operand.is_some_and(|t| t.kind == Kind::Word && t.text != "return" || [")", "]"].contains(&t.text))
        }
        (Kind::Mark, _) => true,
        (Kind::Other, _) => false,
    }
}

/// Whether the `)` at `at` ends what stands behind `if`, `while`, `for` or `switch`.
fn closes_head(tokens: &[Token<'_>], at: usize) -> bool {
    let mut depth = 0;
    let opening = tokens[..=at].iter().rposition(|token| {
        depth += i32::from(token.text == ")") - i32::from(token.text == "(");
        depth == 0
    });
    let head = opening.and_then(|opening| opening.checked_sub(1)).map(|head| tokens[head].text);
    head.is_some_and(|head| ["if", "while", "for", "switch"].contains(&head))
}

/// What is wrong with the brackets, and where.
fn unbalanced(tokens: &[Token<'_>]) -> Option<(usize, String)> {
    let mut open: Vec<(&Token<'_>, &str)> = Vec::new();
    let unclosed =
        |(opening, closing): (&Token<'_>, &str)| (opening.start, format!("`{}` has no `{closing}`", opening.text));
    for token in tokens.iter().filter(|token| token.kind == Kind::Mark) {
        match token.text {
            "(" => open.push((token, ")")),
            "[" => open.push((token, "]")),
            "{" => open.push((token, "}")),
            ")" | "]" | "}" => match open.pop() {
                Some((_, closing)) if closing == token.text => {}
                Some(other) => return Some(unclosed(other)),
                None => return Some((token.start, format!("`{}` closes nothing", token.text))),
            },
            _ => {}
        }
    }
    open.pop().map(unclosed)
}

/// Line and column of a byte of the body.
fn place(body: &str, at: usize) -> (usize, usize) {
    let before = &body[..at];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}

/// What does not end.
struct Open {
    start: usize,
    what: &'static str,
}

/// Marks of two characters; the last six are spellings of other marks.
const TWO_CHARACTERS: [&str; 9] = ["->", "++", "--", "<:", ":>", "%:", "<%", "%>", "??"];

/// The body without its comments.
fn tokens(body: &str) -> Result<Vec<Token<'_>>, Open> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(first) = body[start..].chars().next() {
        let rest = &body[start..];
        let open = |what| Open { start, what };
        let (length, kind) = if let Some(comment) = rest.strip_prefix("/*") {
            (comment.find("*/").ok_or_else(|| open("a comment stays open"))? + 4, None)
        } else if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), None)
        } else if first == '"' || first == '\'' {
            let end = quoted(rest, first).ok_or_else(|| open("a string or character constant stays open"))?;
            (end, Some(Kind::Other))
        } else if first.is_alphabetic() || first == '_' {
            (rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len()), Some(Kind::Word))
        } else if first.is_ascii_digit() {
            (rest.find(|c: char| !c.is_alphanumeric() && c != '.').unwrap_or(rest.len()), Some(Kind::Other))
        } else if first.is_whitespace() {
            (first.len_utf8(), None)
        } else if TWO_CHARACTERS.iter().any(|mark| rest.starts_with(mark)) {
            (2, Some(Kind::Mark))
        } else {
            (first.len_utf8(), Some(Kind::Mark))
        };
        if let Some(kind) = kind {
            tokens.push(Token { kind, text: &rest[..length], start });
        }
        start += length;
    }
    Ok(tokens)
}

/// Bytes of a string or character constant with its quotes.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' if !escaped => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::mistakes;

    /// `LINE:COLUMN WHAT` of each.
    fn what(body: &str) -> Vec<String> {
        mistakes(body).into_iter().map(|m| format!("{}:{} {}", m.line, m.column, m.what)).collect()
    }

    #[test]
    fn sound_bodies_pass() {
        for body in [
            "for (uint32_t i = 0; i < 8; i++)\n    pf_vstore(dev, to + 2u * i * PF_VECTOR_BYTES, pf_vzero());",
            "const uint8_t *row = from + (i + 1u) * row_stride; pf_vec v = pf_vload(dev, row);",
            "uint32_t words[4] = {1, 2}; words[i * 2] = (n) * 3u;",
            "static const uint8_t table[2][2] = {{1, 2}, {3, 4}}; uint32_t x = table[1][0];",
            "/* } static to[0] */ // memcpy(\n pf_vec v = pf_vsplat_half('}' + '\\'' + sizeof \"{\\\"\");",
            "uint32_t x = (a + (b)) * c, y = sizeof(x) * UINT32_C(3); if (x) { } else if (!(y)) { }",
            "pf_vec_pair rows = pf_vhf_from_b(v); pf_vec low = pf_vmul_hf(rows.lo, scale);",
        ] {
            assert_eq!(what(body), [""; 0], "{body}");
        }
    }

    #[test]
    fn what_the_models_do_not_see_is_refused() {
        for (body, says) in [
            ("static uint32_t calls; calls++;", "1:1 a `static` keeps state"),
            ("static const uint8_t *last; last = from;", "1:1 a `static` keeps state"),
            ("\n to[0] = 1;", "2:4 `[` takes an element of `to`"),
            ("/* ü\n */ to[0] = to[1];", "2:7 `[` takes an element of `to`"),
            ("uint8_t *p = to; p[3] = 1;", "1:19 `[` takes an element of `p`"),
            ("(to + 4)[0] = 1;", "1:9 `[` takes an element of `)`"),
            ("*(uint16_t *)(to + 2) = 1;", "1:1 `*` takes what a pointer points to"),
            ("uint32_t a = (uint32_t)*from;", "1:24 `*` takes what a pointer points to"),
            ("x = 3 + *from;", "1:9 `*` takes what a pointer points to"),
            ("return *from;", "1:8 `*` takes what a pointer points to"),
            ("dev->vtcm_bytes = 0;", "1:4 `->` takes apart what a pointer points to"),
            ("v.bytes[3] = 1;", "1:8 `[` takes an element of `bytes`"),
            ("uint32_t bytes[2]; v.bytes[3] = 1;", "1:27 `[` takes an element of `bytes`"),
            ("memset(to, 0, 2048);", "1:1 `memset` is used"),
            ("__builtin_memcpy(to, from, 4);", "1:1 `__builtin_memcpy` is used"),
            ("asm volatile (\"nop\");", "1:1 `asm` is used"),
            ("exit(0);", "1:1 `exit` is used"),
            ("pf_dma_wait(dev, 0);", "1:1 `pf_dma_wait` is used"),
            ("if (x > (y)) *to = 1;", "1:14 `*` takes what a pointer points to"),
            ("++*to;", "1:3 `*` takes what a pointer points to"),
            ("x = 1; --*to;", "1:10 `*` takes what a pointer points to"),
            ("x = (bool)*from;", "1:11 `*` takes what a pointer points to"),
            ("x = (rand)();", "1:6 `rand` is called"),
            ("x = foo_t(1);", "1:5 `foo_t` is called"),
            ("while (x) *to = 1;", "1:11 `*` takes what a pointer points to"),
            ("x = from<:0:>;", "1:9 `<:` is a second spelling of `[`"),
            ("%:define X 1", "1:1 `%:` is a second spelling of `#`"),
            ("x = from??(0??);", "1:9 `??` begins a second spelling of a mark"),
            ("x = rand();", "1:5 `rand` is called"),
            ("printf(\"%d\", 1);", "1:1 `printf` is called"),
            ("#define X 1", "1:1 `#` is for the preprocessor"),
            ("if (x) {", "1:8 `{` has no `}`"),
            ("{\n    f(1;\n}", "2:6 `(` has no `)`"),
            ("} void f(void) {", "1:1 `}` closes nothing"),
            ("/* if (x) {", "1:1 a comment stays open"),
            ("char c = '{;", "1:10 a string or character constant stays open"),
        ] {
            assert_eq!(what(body), [says], "{body}");
        }
    }
}
