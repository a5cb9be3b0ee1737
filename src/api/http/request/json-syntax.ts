export interface SyntaxFault {
  /** From 1. */
  line: number;
  column: number;
  /** As the end of a sentence: `a comma or "}" is expected`. */
  message: string;
}

const SPACE = /[ \t\n\r]*/y;
/** Characters of a string except quotes, backslashes and control characters. */
const PLAIN = /[ !#-[\]-\uffff]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;

/**
 * Finds the first syntax error of JSON text, or null. Its message does not quote the text, unlike that of `JSON.parse`.
 * @remarks Linear in time, without recursion.
 */
export function findSyntaxFault(text: string): SyntaxFault | null {
  return new Reader(text).read();
}

type Step = 'value' | 'first-entry' | 'first-key' | 'key' | 'after-value';

class Reader {
  readonly #text: string;
  readonly #closings: Array<']' | '}'> = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): SyntaxFault | null {
    let step: Step = 'value';
    for (;;) {
      this.#match(SPACE);
      if (step === 'after-value' && this.#closings.length === 0) {
        return this.#at === this.#text.length ? null : this.#fault('nothing more is expected');
      }
      const next = this.#next(step);
      if (typeof next !== 'string') return next;
      step = next;
    }
  }

  #next(step: Step): Step | SyntaxFault {
    const closing = this.#closings.at(-1);
    if (step === 'after-value') {
      if (this.#consume(',')) return closing === '}' ? 'key' : 'value';
      return this.#consumeClosing(closing) ? 'after-value' : this.#fault(`a comma or "${closing}" is expected`);
    }
    if ((step === 'first-entry' || step === 'first-key') && this.#consumeClosing(closing)) return 'after-value';
    return step === 'key' || step === 'first-key' ? this.#key() : this.#value();
  }

  #value(): Step | SyntaxFault {
    if (this.#consume('{')) return this.#open('}', 'first-key');
    if (this.#consume('[')) return this.#open(']', 'first-entry');
    if (this.#consume('"')) return this.#string() ?? 'after-value';
    return this.#match(SCALAR) ? 'after-value' : this.#fault('a value is expected');
  }

  #key(): Step | SyntaxFault {
    if (!this.#consume('"')) return this.#fault('a name in double quotes is expected');
    const broken = this.#string();
    if (broken) return broken;
    this.#match(SPACE);
    return this.#consume(':') ? 'value' : this.#fault('a colon is expected');
  }

  /** Consumes a string after its opening quote. */
  #string(): SyntaxFault | null {
    do this.#match(PLAIN);
    while (this.#match(ESCAPE));
    if (this.#consume('"')) return null;
    return this.#fault(
      'a string has a line break, a control character or an unknown escape',
      'it ends within a string',
    );
  }

  #open(closing: ']' | '}', step: Step): Step {
    this.#closings.push(closing);
    return step;
  }

  #consumeClosing(closing: string | undefined): boolean {
    const does = closing !== undefined && this.#consume(closing);
    if (does) this.#closings.pop();
    return does;
  }

  #consume(character: string): boolean {
    const is = this.#text[this.#at] === character;
    if (is) this.#at++;
    return is;
  }

  #match(pattern: RegExp): boolean {
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
