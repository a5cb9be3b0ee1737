import { type ReactNode, useId } from 'react';
import { Field } from '../../ui/field.tsx';

interface NameFieldProps {
  label: string;
  hint: ReactNode;
  error: string | null;
  value: string;
  onChange: (value: string) => void;
  /** Names that fit the last one in the field. */
  suggestions?: readonly string[];
  /** Only one name, which may contain anything. */
  single?: boolean;
}

const MAX_SUGGESTIONS = 50;

/** The name that is being typed: what follows the last separator. */
export function lastName(text: string): string {
  return /[^\s,]*$/.exec(text)?.[0] ?? '';
}

/** A line of names, for the last of which the browser suggests some. */
export function NameField({ label, hint, error, value, onChange, suggestions = [], single }: NameFieldProps) {
  const listId = useId();
  const before = single ? '' : value.slice(0, value.length - lastName(value).length);
  const used = new Set(before.split(/[\s,]+/));
  // The browser compares the whole text with them.
  const items = suggestions.filter((name) => !used.has(name)).slice(0, MAX_SUGGESTIONS);
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <>
          <input
            className="input"
            autoComplete="off"
            spellCheck={false}
            required
            list={listId}
            value={value}
            onChange={(event) => onChange(event.target.value)}
            {...control}
          />
          <datalist id={listId}>
            {items.map((name) => (
              <option key={name} value={`${before}${name}`} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
