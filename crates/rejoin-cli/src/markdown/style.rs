/// How a run of characters looks: a set of attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Style(u8);

impl Style {
    pub(super) const PLAIN: Self = Self(0);
    pub(super) const BOLD: Self = Self(1);
    pub(super) const ITALIC: Self = Self(2);
    pub(super) const STRUCK: Self = Self(4);
    pub(super) const LINK: Self = Self(8);
    pub(super) const CODE: Self = Self(16);
    pub(super) const DIM: Self = Self(32);

    /// Both together.
    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Writes a text in this style, if styles are wanted.
    pub(super) fn write(self, text: &str, styled: bool, out: &mut String) {
        if !styled || self == Self::PLAIN || text.trim().is_empty() {
            out.push_str(text);
            return;
        }
        let attributes = [
            (Self::BOLD, "1"),
            (Self::DIM, "2"),
            (Self::ITALIC, "3"),
            (Self::LINK, "4"),
            (Self::STRUCK, "9"),
            (Self::CODE, "36"),
        ];
        let codes = attributes.iter().filter(|(style, _)| self.0 & style.0 != 0).map(|(_, code)| *code);
        out.push_str("\u{1b}[");
        out.push_str(&codes.collect::<Vec<_>>().join(";"));
        out.push('m');
        out.push_str(text);
        out.push_str("\u{1b}[0m");
    }
}
