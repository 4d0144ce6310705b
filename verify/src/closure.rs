//! Calls of an author's closures: the reference of a kernel, of a step, a layout of operands. They may panic.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

thread_local! {
    /// Inside [`call`], what the panic said and where; the hook then prints nothing.
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// What `closure` gives, or the words of its panic with file, line and column. The panic is not printed: a wrong case is run
/// again many times until it is small.
pub(crate) fn call<T>(closure: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !keep(info) {
                before(info);
            }
        }));
    });
    SAID.set(Some(String::new()));
    let result = panic::catch_unwind(AssertUnwindSafe(closure));
    let said = SAID.take();
    result.map_err(|_| said.filter(|said| !said.is_empty()).unwrap_or_else(|| "it panicked".to_owned()))
}

/// Whether the panic is one of a closure; its words are kept then.
fn keep(info: &PanicHookInfo<'_>) -> bool {
    SAID.try_with(|said| {
        let mut said = said.borrow_mut();
        let Some(said) = said.as_mut() else { return false };
        let words = info.payload_as_str().unwrap_or("a panic without words");
        *said = match info.location() {
            Some(at) => format!("{words} ({}:{}:{})", at.file(), at.line(), at.column()),
            None => words.to_owned(),
        };
        true
    })
    .unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::call;

    #[test]
    fn a_panic_becomes_words_with_a_place() {
        assert_eq!(call(|| 3), Ok(3));
        let words = call(|| [1, 2, 3].iter().position(|&x| x == 4).expect("a four")).unwrap_err();
        assert!(words.starts_with("a four") && words.contains("closure.rs:"), "{words}");
        assert_eq!(call(|| 4), Ok(4));
    }
}
