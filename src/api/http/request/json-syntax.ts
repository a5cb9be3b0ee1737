/** Where a text is not JSON, and what is wrong there. */
export interface SyntaxFault {
  /** Counted in characters from 1. */
  line: number;
  column: number;
  /** As the end of a sentence: `a comma or "}" is expected`. */
  message: string;
}

const SPACE = /[ \t\n\r]*/y;
/** Everything from the space on, without quote and backslash. */
const PLAIN = /[ !#-[\]-\uffff]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;

/**
 * Finds the first place at which a text is not JSON, for an answer to whoever wrote it; null when it is JSON.
 *
 * @remarks Linear in time, without recursion, and shows nothing of the text.
 */
export function findSyntaxFault(text: string): SyntaxFault | null {
  return new Reader(text).read();
}

type Step = 'value' | 'first-entry' | 'first-key' | 'key' | 'after-value';

class Reader {
  readonly #text: string;
  /** What closes the arrays and objects that are open. */
  readonly #open: Array<']' | '}'> = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): SyntaxFault | null {
    let step: Step = 'value';
    for (;;) {
      this.#take(SPACE);
      if (step === 'after-value' && this.#open.length === 0) {
        return this.#at === this.#text.length ? null : this.#fault('nothing more is expected');
      }
      const next = this.#next(step);
      if (typeof next !== 'string') return next;
      step = next;
    }
  }

  #next(step: Step): Step | SyntaxFault {
    const closing = this.#open.at(-1);
    if (step === 'after-value') {
      if (this.#is(',')) return closing === '}' ? 'key' : 'value';
      return this.#closes(closing) ? 'after-value' : this.#fault(`a comma or "${closing}" is expected`);
    }
    if ((step === 'first-entry' || step === 'first-key') && this.#closes(closing)) return 'after-value';
    return step === 'key' || step === 'first-key' ? this.#key() : this.#value();
  }

  #value(): Step | SyntaxFault {
    if (this.#is('{')) return this.#opens('}', 'first-key');
    if (this.#is('[')) return this.#opens(']', 'first-entry');
    if (this.#is('"')) return this.#string() ?? 'after-value';
    return this.#take(SCALAR) ? 'after-value' : this.#fault('a value is expected');
  }

  #key(): Step | SyntaxFault {
    if (!this.#is('"')) return this.#fault('a name in double quotes is expected');
    const broken = this.#string();
    if (broken) return broken;
    this.#take(SPACE);
    return this.#is(':') ? 'value' : this.#fault('a colon is expected');
  }

  /** Goes on behind the string whose opening quote was taken, or to what cannot be in it. */
  #string(): SyntaxFault | null {
    do this.#take(PLAIN);
    while (this.#take(ESCAPE));
    if (this.#is('"')) return null;
    return this.#fault(
      'a string has a line break, a control character or an unknown escape',
      'it ends within a string',
    );
  }

  #opens(closing: ']' | '}', step: Step): Step {
    this.#open.push(closing);
    return step;
  }

  #closes(closing: string | undefined): boolean {
    const does = closing !== undefined && this.#is(closing);
    if (does) this.#open.pop();
    return does;
  }

  #is(character: string): boolean {
    const is = this.#text[this.#at] === character;
    if (is) this.#at++;
    return is;
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found) this.#at += found[0].length;
    return found !== null;
  }

  #fault(message: string, atEnd = `it ends where ${message}`): SyntaxFault {
    const before = this.#text.slice(0, this.#at);
    const start = before.lastIndexOf('\n') + 1;
    const line = before.split('\n').length;
    const isEnd = this.#at === this.#text.length;
    return { line, column: this.#at - start + 1, message: isEnd ? atEnd : message };
  }
}
