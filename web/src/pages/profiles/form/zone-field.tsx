import { useId, useMemo } from 'react';
import { TextField } from '../../../ui/field.tsx';
import { useZone } from '../../../ui/times/use-zone.ts';
import { timeZones } from '../../../ui/times/zone.ts';

interface ZoneFieldProps {
  value: string;
  error: string | null;
  onChange: (zone: string) => void;
}

/** A time zone, with suggestions while it is typed. */
export function ZoneField({ value, error, onChange }: ZoneFieldProps) {
  const id = useId();
  const own = useZone();
  const zones = useMemo(() => timeZones(own), [own]);
  return (
    <>
      <TextField
        label="Time zone"
        hint="The times below are local times there"
        list={id}
        value={value}
        error={error}
        required
        onChange={({ target }) => onChange(target.value)}
      />
      <datalist id={id}>
        {zones.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  );
}
