import { useEffect, useState } from 'react';
import { TextField } from '../../ui/field.tsx';

const PAUSE_MS = 300;

interface SearchFieldProps {
  label: string;
  value: string;
  placeholder?: string;
  className?: string;
  /** Called after a pause in typing. */
  onChange: (value: string) => void;
}

/** A field whose text takes effect when typing pauses. */
export function SearchField({ label, value, placeholder, className, onChange }: SearchFieldProps) {
  const [typed, setTyped] = useState<string | null>(null);
  useEffect(() => {
    if (typed === null) return;
    const timer = setTimeout(() => {
      if (typed !== value) onChange(typed);
      setTyped(null);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  });
  return (
    <div className={className}>
      <TextField
        label={label}
        type="search"
        value={typed ?? value}
        placeholder={placeholder}
        spellCheck={false}
        autoComplete="off"
        onChange={({ target }) => setTyped(target.value)}
      />
    </div>
  );
}
