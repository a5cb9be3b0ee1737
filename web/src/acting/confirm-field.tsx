import { TextField } from '../ui/field.tsx';
import type { Target } from './targets.ts';

interface ConfirmFieldProps {
  targets: readonly Target[];
  value: string;
  onChange: (value: string) => void;
}

/** What a person types to confirm: the title of the only computer, otherwise how many there are. */
export function expectedConfirmation(targets: readonly Target[]): string {
  const [first] = targets;
  return targets.length === 1 && first ? first.title : String(targets.length);
}

/** A field in which the person confirms a dangerous action. */
export function ConfirmField({ targets, value, onChange }: ConfirmFieldProps) {
  const isOne = targets.length === 1;
  return (
    <TextField
      label={isOne ? 'Title of the computer' : 'Number of computers'}
      hint={
        <>
          To confirm, type <bdi className="mono">{expectedConfirmation(targets)}</bdi>.
        </>
      }
      autoComplete="off"
      spellCheck={false}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
