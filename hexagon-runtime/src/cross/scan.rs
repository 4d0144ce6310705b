//! The disassembly of a library: how many instructions of each class, and which must not be there.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use kernel_gen::Arch;

use super::compile::run;
use super::{Class, CrossError, HmxOp, Opcode, Toolchain};

/// Findings an error lists.
const LISTED: usize = 10;

/// What a library is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// V79 and V81: no IEEE float HVX.
    Phone,
    /// qemu-hexagon, which has no float HVX, no user DMA and no HMX, and runs some of them as something else.
    Qemu,
}

impl Target {
    fn name(self) -> &'static str {
        match self {
            Target::Phone => "V79 and V81",
            Target::Qemu => "qemu-hexagon",
        }
    }

    /// Whether an instruction of `class` may be given to it.
    pub fn takes(self, class: Class) -> bool {
        match class {
            Class::Scalar | Class::HvxInteger => true,
            Class::IeeeFloat | Class::Unknown => false,
            _ => self == Target::Phone,
        }
    }
}

/// An instruction and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Function it is in.
    pub function: String,
    /// Its address in the library.
    pub address: u32,
    /// The instruction.
    pub opcode: Opcode,
    /// Its class.
    pub class: Class,
}

/// A library looked through.
#[derive(Debug, Default)]
pub struct Scan {
    /// Instructions of each class.
    pub counts: BTreeMap<Class, usize>,
    /// All that are not plain scalar or integer vector instructions.
    pub special: Vec<Finding>,
    /// HMX loads that do not share a packet with their partner.
    pub lone_loads: Vec<Finding>,
    library: String,
}

impl Scan {
    /// Disassembles `library` and counts.
    ///
    /// # Errors
    /// [`CrossError::Refused`]: the disassembler cannot read it, or shows no instruction.
    pub fn of(tools: &Toolchain, arch: Arch, library: &Path) -> Result<Scan, CrossError> {
        let mut objdump = Command::new(&tools.objdump);
        objdump.arg("-d").arg(format!("--mcpu=hexagonv{}", arch.number())).arg(library);
        let listing = run(&mut objdump)?;
        let mut scan = Scan::read(&String::from_utf8_lossy(&listing));
        scan.library = library.display().to_string();
        if scan.counts.is_empty() {
            let stderr = "its listing has no instruction this program can read".to_owned();
            return Err(CrossError::Refused { command: format!("{objdump:?}"), stderr });
        }
        Ok(scan)
    }

    /// Reads the listing of `llvm-objdump -d`.
    pub fn read(listing: &str) -> Scan {
        let mut scan = Scan::default();
        let mut function = String::new();
        let mut before: Option<Finding> = None;
        let mut zeros: Vec<Finding> = Vec::new();
        for line in listing.lines() {
            if let Some(name) = line.strip_suffix(">:").and_then(|line| line.split_once('<')) {
                name.1.clone_into(&mut function);
                // Zeros between the end of one object and the first function of the next are the linker's.
                zeros.clear();
            }
            let Some((address, opcode)) = instruction(line) else { continue };
            let class = opcode.class();
            if class == Class::Unknown && opcode.word == 0 {
                zeros.push(Finding { function: function.clone(), address, opcode, class });
                continue;
            }
            for zero in zeros.drain(..) {
                *scan.counts.entry(zero.class).or_default() += 1;
                scan.special.push(zero);
            }
            *scan.counts.entry(class).or_default() += 1;
            let here = Finding { function: function.clone(), address, opcode, class };
            scan.pair(before.as_ref(), &here);
            if !matches!(class, Class::Scalar | Class::HvxInteger) {
                scan.special.push(here.clone());
            }
            before = Some(here);
        }
        if let Some(last) = before.filter(|last| last.class == Class::Hmx(HmxOp::Activation)) {
            scan.lone_loads.push(last);
        }
        scan
    }

    /// An activation load must be followed, in its packet, by the weight load that ends it.
    fn pair(&mut self, before: Option<&Finding>, here: &Finding) {
        let opened = before.filter(|b| b.class == Class::Hmx(HmxOp::Activation));
        let weight = here.class == Class::Hmx(HmxOp::Weight);
        match opened {
            Some(activation) if !weight || activation.opcode.ends_packet() => {
                self.lone_loads.push(activation.clone());
                if weight {
                    self.lone_loads.push(here.clone());
                }
            }
            None if weight => self.lone_loads.push(here.clone()),
            _ => {}
        }
    }

    /// How many instructions of `class`.
    pub fn count(&self, class: Class) -> usize {
        self.counts.get(&class).copied().unwrap_or_default()
    }

    /// All HMX instructions together.
    pub fn hmx(&self) -> usize {
        self.counts.iter().filter(|(class, _)| matches!(class, Class::Hmx(_))).map(|(_, count)| count).sum()
    }

    /// What must not be given to `target`.
    pub fn refused(&self, target: Target) -> Vec<&Finding> {
        self.special.iter().filter(|found| !target.takes(found.class)).chain(&self.lone_loads).collect()
    }

    /// Whether all of it may be given to `target`.
    ///
    /// # Errors
    /// [`CrossError::Forbidden`] with the first instructions that may not.
    pub fn allow(&self, target: Target) -> Result<(), CrossError> {
        let refused = self.refused(target);
        if refused.is_empty() {
            return Ok(());
        }
        let line = |found: &&Finding| {
            let Finding { function, address, opcode, class } = found;
            format!("  {function} at {address:#x}: {} ({:08x}, {class:?})", opcode.text, opcode.word)
        };
        let mut lines: Vec<String> = refused.iter().take(LISTED).map(line).collect();
        if refused.len() > LISTED {
            lines.push(format!("  and {} more", refused.len() - LISTED));
        }
        Err(CrossError::Forbidden {
            library: self.library.clone(),
            total: refused.len(),
            target: target.name(),
            findings: lines.join("\n"),
        })
    }
}

/// Address and instruction of a line like `10500:⇥13 c0 e0 a6⇥a6e0c013 <unknown>` or `…⇥a7dd70fe {⇥memd(r29) = r17:16 }`.
fn instruction(line: &str) -> Option<(u32, Opcode)> {
    let (address, rest) = line.split_once(":\t")?;
    let address = u32::from_str_radix(address.trim(), 16).ok()?;
    let (_bytes, rest) = rest.split_once('\t')?;
    let (word, text) = rest.split_at_checked(8)?;
    let word = u32::from_str_radix(word, 16).ok()?;
    let text = text.replace(['{', '}'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
    Some((address, Opcode { word, text }))
}
