// The text of a message as it is drawn: pieces come with offsets in bytes of UTF-8, and the same one may come twice.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function bytesOf(text: string): number {
  // Most text is ASCII, of which every character is a byte.
  // eslint-disable-next-line no-control-regex
  return /^[\x00-\x7f]*$/.test(text) ? text.length : encoder.encode(text).length;
}

export class DrawnText {
  text = "";
  private bytes = 0;
  /** So much of it stands in the journal for sure. */
  private kept = 0;

  /** Begins with what was read from the journal. */
  static of(text: string): DrawnText {
    const drawn = new DrawnText();
    drawn.text = text;
    drawn.bytes = drawn.kept = bytesOf(text);
    return drawn;
  }

  /** `text_delta`: put over what is drawn; what lies behind it stays. */
  put(offset: number, text: string, durable: boolean): void {
    this.splice(offset, text, false);
    if (durable) this.kept = offset + bytesOf(text);
  }

  /** `message` and `partial`: the text from the offset on is this, and no more. */
  set(offset: number, text: string, durable: boolean): void {
    this.splice(offset, text, true);
    if (durable) this.kept = this.bytes;
  }

  /** `hello`: what was not kept may never be. */
  cutToKept(): void {
    if (this.bytes > this.kept) this.splice(this.kept, "", true);
  }

  private splice(offset: number, text: string, cut: boolean): void {
    if (offset === this.bytes) {
      this.text += text;
      this.bytes += bytesOf(text);
      return;
    }
    const old = encoder.encode(this.text);
    const piece = encoder.encode(text);
    // A piece that does not join what is drawn cannot be drawn; it comes again from the journal.
    if (offset > old.length) return;
    const end = offset + piece.length;
    const whole = new Uint8Array(cut ? end : Math.max(old.length, end));
    whole.set(old.subarray(0, Math.min(old.length, whole.length)));
    whole.set(piece, offset);
    this.text = decoder.decode(whole);
    this.bytes = whole.length;
  }
}
