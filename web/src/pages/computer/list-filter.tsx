import { type ReactNode, useEffect, useState } from 'react';
import { Field } from '../../ui/field.tsx';

interface ListFilterProps {
  label: string;
  search: string;
  shown: string;
  options: ReadonlyArray<{ value: string; label: string }>;
  count: number | null;
  onChange: (changes: { search?: string | undefined; show?: string | undefined }) => void;
  /** Buttons on the right. */
  children?: ReactNode;
}

const PAUSE_MS = 300;
const numbers = new Intl.NumberFormat();

/** The line above a list: search, which entries are shown, and their number. */
export function ListFilter({ label, search, shown, options, count, onChange, children }: ListFilterProps) {
  const [text, setText] = useState(search);
  useEffect(() => {
    if (text === search) return;
    const timer = setTimeout(() => onChange({ search: text === '' ? undefined : text }), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, search, onChange]);
  return (
    <div className="list-filter">
      <Field label={`Search ${label.toLowerCase()}`}>
        {(control) => (
          <input
            className="input"
            type="search"
            maxLength={255}
            value={text}
            onChange={({ target }) => setText(target.value)}
            {...control}
          />
        )}
      </Field>
      {options.length > 0 && (
        <Field label="Show">
          {(control) => (
            <select
              className="input"
              value={shown}
              onChange={({ target }) =>
                onChange({ show: target.value === options[0]?.value ? undefined : target.value })
              }
              {...control}
            >
              {options.map(({ value, label: text }) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <span role="status" className="quiet">
        {count !== null && numbers.format(count)}
      </span>
      <span className="list-actions">{children}</span>
    </div>
  );
}
