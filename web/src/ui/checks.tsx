import type { ReactNode } from 'react';

interface ChecksProps {
  label: string;
  error?: string | null;
  options: ReadonlyArray<{ value: string; label: string; depth?: number }>;
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  /** Side by side where there is room. */
  columns?: boolean;
  children?: ReactNode;
}

/** A choice of any number of values. */
export function Checks({ label, error, options, chosen, onChange, columns, children }: ChecksProps) {
  const toggle = (value: string) =>
    onChange(chosen.includes(value) ? chosen.filter((other) => other !== value) : [...chosen, value]);
  return (
    <fieldset className={columns ? 'checks checks-columns' : 'checks'}>
      <legend>{label}</legend>
      {children}
      {options.map(({ value, label: text, depth = 0 }) => (
        <label key={value} className="check" style={{ paddingInlineStart: depth * 16 }}>
          <input type="checkbox" checked={chosen.includes(value)} onChange={() => toggle(value)} />
          <bdi title={text}>{text}</bdi>
        </label>
      ))}
      {error && <p className="field-error">{error}</p>}
    </fieldset>
  );
}
