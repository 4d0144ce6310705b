//! The macro survives anything: mangled kernels give errors and Rust that parses, never a panic.
//!
//! The kernels of the library and of the passing macro tests have tokens deleted, repeated, swapped, inserted and spliced at any
//! depth. A few seconds are tried with every test run; `PERMAFROST_FUZZ_SECONDS=600` tries as long as it says.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs};

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::expand::macro_input;

/// Cases of one run without the variable, and of one round with it.
const CASES: u32 = 3000;

/// Every `kernel! { … }` of the library and of the macro tests, as what stands between the braces.
fn sources() -> Vec<Vec<TokenTree>> {
    let kernel_gen = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernel-gen");
    let mut files: Vec<_> = ["src/library", "tests/ui/pass"]
        .iter()
        .flat_map(|folder| fs::read_dir(kernel_gen.join(folder)).expect("a folder of kernels"))
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    files.sort();
    files.iter().flat_map(|file| calls(fs::read_to_string(file).unwrap().parse().unwrap())).collect()
}

/// The arguments of every call of the macro among some tokens.
fn calls(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let call = |window: &[TokenTree]| match window {
        [TokenTree::Ident(name), TokenTree::Punct(bang), TokenTree::Group(group)]
            if name == "kernel" && bang.as_char() == '!' && group.delimiter() == Delimiter::Brace =>
        {
            Some(group.stream().into_iter().collect())
        }
        _ => None,
    };
    tokens.windows(3).filter_map(call).collect()
}

/// Numbers that proptest draws and shrinks towards 0; once they are used up, every choice is the first.
struct Choices<'c>(std::slice::Iter<'c, u32>);

impl Choices<'_> {
    fn below(&mut self, bound: usize) -> usize {
        self.0.next().map_or(0, |&choice| choice as usize % bound.max(1))
    }
}

/// Tokens that appear in no kernel, or not where they are put.
fn strangers() -> Vec<TokenTree> {
    let word = |text: &str| TokenTree::Ident(Ident::new(text, Span::call_site()));
    let group = |delimiter| TokenTree::Group(Group::new(delimiter, TokenStream::new()));
    vec![
        word("self"),
        word("unsafe"),
        TokenTree::Ident(Ident::new_raw("fn", Span::call_site())),
        word("kernel"),
        TokenTree::Literal(Literal::u64_unsuffixed(u64::MAX)),
        TokenTree::Literal(Literal::u8_suffixed(32)),
        TokenTree::Literal(Literal::f64_unsuffixed(1.5)),
        TokenTree::Literal(Literal::string("}{")),
        TokenTree::Punct(Punct::new('-', Spacing::Alone)),
        TokenTree::Punct(Punct::new('=', Spacing::Joint)),
        TokenTree::Punct(Punct::new('#', Spacing::Alone)),
        group(Delimiter::Brace),
        group(Delimiter::Bracket),
        group(Delimiter::None),
    ]
}

/// Changes one place, at any depth.
fn mangle(tokens: &mut Vec<TokenTree>, choices: &mut Choices<'_>, spare: &[TokenTree]) {
    let at = choices.below(tokens.len());
    if let Some(TokenTree::Group(group)) = tokens.get(at)
        && choices.below(8) != 7
    {
        let mut inner: Vec<_> = group.stream().into_iter().collect();
        mangle(&mut inner, choices, spare);
        let mut changed = Group::new(group.delimiter(), inner.into_iter().collect());
        changed.set_span(group.span());
        tokens[at] = TokenTree::Group(changed);
        return;
    }
    let other = |choices: &mut Choices<'_>| spare[choices.below(spare.len())].clone();
    if tokens.is_empty() {
        tokens.push(other(choices));
        return;
    }
    let end = at + 1 + choices.below(tokens.len() - at);
    match choices.below(7) {
        0 => drop(tokens.remove(at)),
        1 => tokens.insert(at, tokens[at].clone()),
        2 => {
            let to = choices.below(tokens.len());
            tokens.swap(at, to);
        }
        3 => tokens[at] = other(choices),
        4 => tokens.insert(at, other(choices)),
        5 => drop(tokens.drain(at..end)),
        // A run of tokens moved to another place, or copied there.
        _ => {
            let run: Vec<_> = tokens[at..end].to_vec();
            if choices.below(2) == 0 {
                tokens.drain(at..end);
            }
            let to = choices.below(tokens.len() + 1);
            tokens.splice(to..to, run);
        }
    }
}

/// All tokens of some trees, groups included.
fn pieces(tokens: &[TokenTree], out: &mut Vec<TokenTree>) {
    for token in tokens {
        out.push(token.clone());
        if let TokenTree::Group(group) = token {
            pieces(&group.stream().into_iter().collect::<Vec<_>>(), out);
        }
    }
}

/// What came of some mangled kernels.
#[derive(Default)]
struct Tally {
    tried: u32,
    refused: u32,
    /// A kernel broke the macro: what follows are smaller ones, which shrinking must see to the end.
    broken: bool,
}

/// Tries the mangled kernels of one seed; those drawn behind the deadline of a long run are passed over.
fn round(sources: &[Vec<TokenTree>], spare: &[TokenTree], seed: u64, deadline: Option<Instant>) -> Tally {
    let config =
        Config { cases: CASES, rng_seed: RngSeed::Fixed(seed), failure_persistence: None, ..Config::default() };
    let tally = std::cell::RefCell::new(Tally::default());
    let strategy = (0..sources.len(), 1..5usize, vec(any::<u32>(), 8..60));
    let result = TestRunner::new(config).run(&strategy, |(source, changes, choices)| {
        let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let broken = tally.borrow().broken;
        if late && !broken {
            return Ok(());
        }
        let mut tokens = sources[source].clone();
        let mut choices = Choices(choices.iter());
        for _ in 0..changes {
            mangle(&mut tokens, &mut choices, spare);
        }
        let input: TokenStream = tokens.into_iter().collect();
        let shown = input.to_string();
        tally.borrow_mut().broken = true;
        let output = std::panic::catch_unwind(|| macro_input(input))
            .map_err(|_| TestCaseError::fail(format!("the macro panics: {shown}")))?;
        let text = output.to_string();
        prop_assert!(syn::parse2::<syn::File>(output).is_ok(), "expands to what is not Rust: {}", shown);
        let mut tally = tally.borrow_mut();
        tally.broken = broken;
        tally.tried += 1;
        tally.refused += u32::from(text.contains("compile_error"));
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    tally.into_inner()
}

#[test]
fn the_unmangled_kernels_are_sound() {
    let sources = sources();
    assert!(sources.len() >= 12, "only {} kernels found", sources.len());
    for source in sources {
        let text = macro_input(source.into_iter().collect()).to_string();
        assert!(!text.contains("compile_error"), "{text}");
    }
}

#[test]
fn mangled_kernels_expand_to_rust() {
    let sources = sources();
    let mut spare = strangers();
    sources.iter().for_each(|source| pieces(source, &mut spare));
    let seconds: Option<u64> = env::var("PERMAFROST_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let deadline = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut total = Tally::default();
    for seed in 0.. {
        let Tally { tried, refused, .. } = round(&sources, &spare, seed, deadline);
        total.tried += tried;
        total.refused += refused;
        if deadline.is_none_or(|deadline| Instant::now() >= deadline) {
            break;
        }
    }
    println!("{} mangled kernels, {} of them refused", total.tried, total.refused);
    assert!(total.refused > total.tried / 2, "only {} of {} were refused", total.refused, total.tried);
    assert!(total.refused < total.tried, "none of {} was a kernel still", total.tried);
}

#[test]
fn a_broken_kernel_keeps_its_type() {
    let text = include_str!("../../kernel-gen/tests/ui/pass/plain.rs").replace("dequantise wb", "dequantize wb");
    let call = calls(text.parse().unwrap()).remove(0);
    let output = macro_input(call.into_iter().collect());
    let file: syn::File = syn::parse2(output).unwrap();
    assert!(file.items.iter().any(|item| matches!(item, syn::Item::Macro(_))), "the error");
    assert!(file.items.iter().any(|item| matches!(item, syn::Item::Fn(f) if f.sig.ident == "plain")), "the stub");
}
