//! The macro survives anything: mangled kernels give errors and Rust that parses, never a panic.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::expand::macro_input;

const SOUND: &str = include_str!("../../kernel-gen/tests/ui/pass/plain.rs");
const OWN_STEP: &str = include_str!("../../kernel-gen/tests/ui/pass/own_step.rs");
const BY_ARCHITECTURE: &str = include_str!("../../kernel-gen/tests/ui/pass/by_architecture.rs");
const TWO_DIRECTIONS: &str = include_str!("../../kernel-gen/tests/ui/pass/two_directions.rs");
const REQUIRE: &str = include_str!("../../kernel-gen/tests/ui/pass/require.rs");
const ALL: [&str; 5] = [SOUND, OWN_STEP, BY_ARCHITECTURE, TWO_DIRECTIONS, REQUIRE];

/// The tokens inside `kernel! { … }`.
fn sound(text: &str) -> Vec<TokenTree> {
    let file: TokenStream = text.parse().unwrap();
    let group = file.into_iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group),
        _ => None,
    });
    group.unwrap().stream().into_iter().collect()
}

/// A small generator: the same mistakes on every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}

/// Changes one place, at a random depth.
fn mangle(tokens: &mut Vec<TokenTree>, dice: &mut Dice, spare: &[TokenTree]) {
    if tokens.is_empty() {
        return;
    }
    let at = dice.below(tokens.len());
    if let TokenTree::Group(group) = &tokens[at]
        && dice.below(8) != 0
    {
        let mut inner: Vec<_> = group.stream().into_iter().collect();
        mangle(&mut inner, dice, spare);
        let mut changed = Group::new(group.delimiter(), inner.into_iter().collect());
        changed.set_span(group.span());
        tokens[at] = TokenTree::Group(changed);
        return;
    }
    match dice.below(4) {
        0 => drop(tokens.remove(at)),
        1 => tokens.insert(at, tokens[at].clone()),
        2 => {
            let other = dice.below(tokens.len());
            tokens.swap(at, other);
        }
        _ => tokens[at] = spare[dice.below(spare.len())].clone(),
    }
}

/// All leaves of a tree.
fn leaves(tokens: &[TokenTree], out: &mut Vec<TokenTree>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => leaves(&group.stream().into_iter().collect::<Vec<_>>(), out),
            leaf => out.push(leaf.clone()),
        }
    }
}

#[test]
fn the_unmangled_kernels_are_sound() {
    for text in ALL {
        let text = macro_input(sound(text).into_iter().collect()).to_string();
        assert!(!text.contains("compile_error"), "{text}");
    }
}

#[test]
fn mangled_kernels_expand_to_rust() {
    let sounds = ALL.map(sound);
    let mut spare = Vec::new();
    for sound in &sounds[1..] {
        leaves(sound, &mut spare);
    }
    let mut dice = Dice(7);
    let mut refused = 0;
    for round in 0..7500 {
        let mut tokens = sounds[round % ALL.len()].clone();
        for _ in 0..=dice.below(4) {
            mangle(&mut tokens, &mut dice, &spare);
        }
        let input: TokenStream = tokens.into_iter().collect();
        let shown = input.to_string();
        let output = macro_input(input);
        let file = syn::parse2::<syn::File>(output.clone());
        assert!(file.is_ok(), "expands to what is not Rust: {shown}");
        refused += usize::from(output.to_string().contains("compile_error"));
    }
    assert!(refused > 5000, "only {refused} of 7500 mangled kernels were refused");
}

#[test]
fn a_broken_kernel_keeps_its_type() {
    let text = SOUND.replace("dequantise wb", "dequantize wb");
    let file: TokenStream = text.parse().unwrap();
    let group = file.into_iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    });
    let output = macro_input(group.unwrap());
    let file: syn::File = syn::parse2(output).unwrap();
    assert!(file.items.iter().any(|item| matches!(item, syn::Item::Macro(_))), "the error");
    assert!(file.items.iter().any(|item| matches!(item, syn::Item::Fn(f) if f.sig.ident == "plain")), "the stub");
}
