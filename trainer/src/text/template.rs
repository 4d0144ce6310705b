//! Chat templates: the Jinja text a model carries, run under a budget.

use super::{Message, TextError, tojson};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, Value, context};

const NAME: &str = "chat_template";
/// Budget of one rendering. Real templates take some hundred steps a message; the engine also
/// charges one step per 64 bytes a template builds, so this bounds memory (128 MB) as well as time.
const FUEL: u64 = 2_000_000;

/// A compiled chat template.
///
/// The environment is the one Hugging Face's templates are written for: `trim_blocks` and
/// `lstrip_blocks`, Python's string methods, `raise_exception`, `tojson`, `bos_token`, `eos_token`.
/// `strftime_now` is left undefined on purpose: templates that ask for it fall back to a fixed
/// date, and the same data gives the same tokens on every day.
pub struct ChatTemplate {
    environment: Environment<'static>,
    bos: String,
    eos: String,
}

impl ChatTemplate {
    /// Compiles a template. `bos` and `eos` are the spellings of these tokens.
    pub fn new(source: &str, bos: Option<&str>, eos: Option<&str>) -> Result<ChatTemplate, TextError> {
        let mut environment = Environment::new();
        environment.set_syntax(syntax()?);
        environment.set_fuel(Some(FUEL));
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function("raise_exception", raise_exception);
        environment.add_filter("tojson", tojson::tojson);
        environment
            .add_template_owned(NAME, source.to_string())
            .map_err(|error| TextError::TemplateSyntax { problem: described(&error) })?;
        Ok(ChatTemplate { environment, bos: bos.unwrap_or_default().into(), eos: eos.unwrap_or_default().into() })
    }

    /// Text of the conversation; with `add_generation_prompt` it ends where the assistant's next
    /// answer would begin.
    pub fn render(&self, messages: &[Message], add_generation_prompt: bool) -> Result<String, TextError> {
        self.environment
            .get_template(NAME)
            .and_then(|template| {
                template.render(context! {
                    messages => Value::from(Serde(messages)),
                    add_generation_prompt,
                    bos_token => self.bos.as_str(),
                    eos_token => self.eos.as_str(),
                })
            })
            .map_err(|error| failed(&error))
    }
}

fn syntax() -> Result<SyntaxConfig, TextError> {
    SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .map_err(|error| TextError::TemplateSyntax { problem: described(&error) })
}

/// Marks an error as the template's own refusal.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Refusal(String);

fn raise_exception(reason: String) -> Result<String, Error> {
    let refusal = Refusal(reason);
    Err(Error::new(ErrorKind::InvalidOperation, "raise_exception").with_source(refusal))
}

fn failed(error: &Error) -> TextError {
    if error.kind() == ErrorKind::OutOfFuel {
        return TextError::TemplateBudget { fuel: FUEL };
    }
    let source = std::error::Error::source(error);
    match source.and_then(|source| source.downcast_ref::<Refusal>()) {
        Some(Refusal(reason)) => TextError::TemplateRefused { reason: reason.clone() },
        None => TextError::TemplateFailed { problem: described(error) },
    }
}

fn described(error: &Error) -> String {
    match (error.detail(), error.line()) {
        (Some(detail), Some(line)) => format!("line {line}: {}: {detail}", error.kind()),
        (Some(detail), None) => format!("{}: {detail}", error.kind()),
        (None, Some(line)) => format!("line {line}: {}", error.kind()),
        (None, None) => error.kind().to_string(),
    }
}
