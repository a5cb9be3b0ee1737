import { type KeyboardEvent, type UIEvent, useRef } from 'react';
import { Field } from '../../ui/field.tsx';

interface CodeEditorProps {
  label: string;
  value: string;
  error: string | null;
  onChange: (value: string) => void;
}

const INDENT = '  ';

/** A text with numbered lines, in which Tab indents. */
export function CodeEditor({ label, value, error, onChange }: CodeEditorProps) {
  const numbers = useRef<HTMLPreElement>(null);
  const leaves = useRef(false);
  const count = value.split('\n').length;
  const onScroll = ({ currentTarget }: UIEvent<HTMLTextAreaElement>) => {
    if (numbers.current) numbers.current.scrollTop = currentTarget.scrollTop;
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const isTab = event.key === 'Tab' && !event.shiftKey && !event.ctrlKey && !event.altKey;
    if (isTab && !leaves.current) {
      event.preventDefault();
      // Unlike a change of the value, it can be undone with the keyboard.
      document.execCommand('insertText', false, INDENT);
    }
    if (event.key !== 'Shift') leaves.current = event.key === 'Escape';
  };
  return (
    <Field
      label={label}
      hint="Tab indents. To leave the field with the keyboard, press Escape and then Tab."
      error={error}
    >
      {(control) => (
        <div className="code-editor">
          <pre ref={numbers} aria-hidden="true" className="code-numbers">
            {Array.from({ length: count }, (_, index) => index + 1).join('\n')}
          </pre>
          <textarea
            {...control}
            className="code-text"
            value={value}
            rows={Math.min(32, Math.max(12, count + 1))}
            wrap="off"
            spellCheck={false}
            autoCapitalize="off"
            autoComplete="off"
            required
            onScroll={onScroll}
            onKeyDown={onKeyDown}
            onChange={({ target }) => onChange(target.value)}
          />
        </div>
      )}
    </Field>
  );
}

/** Code to read, with numbered lines. */
export function CodeView({ label, code }: { label: string; code: string }) {
  const lines = code.replace(/\n$/, '').split('\n');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached with the keyboard
    <section className="code-view" aria-label={label} tabIndex={0}>
      <pre aria-hidden="true" className="code-numbers">
        {lines.map((_, index) => index + 1).join('\n')}
      </pre>
      <pre className="code-text">{lines.join('\n')}</pre>
    </section>
  );
}
