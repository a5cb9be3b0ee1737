import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { client } from '../api/client.ts';
import { Field, TextField } from '../ui/field.tsx';
import { useZone } from '../ui/times/use-zone.ts';
import { bodyError } from './field-errors.ts';
import { type Delivery, momentOf } from './plans/delivery.ts';

interface DeliveryFieldsProps {
  delivery: Delivery;
  /** `after`: only after another activity, since the action takes no time. */
  kind: 'any' | 'after';
  change: (changes: Partial<Delivery>) => void;
  error: unknown;
}

/** When an action reaches the computers. Closed unless something is chosen or wrong in it. */
export function DeliveryFields({ delivery, kind, change, error }: DeliveryFieldsProps) {
  const { at, spread, after } = delivery;
  const zone = useZone();
  const errors = {
    at: bodyError(error, 'deliver_after'),
    spread: bodyError(error, 'deliver_delay_window'),
    after: bodyError(error, 'after'),
  };
  const [isOpen, setOpen] = useState(() => [at, spread, after].some(Boolean));
  const hasError = Object.values(errors).some(Boolean);
  return (
    <details className="acting-more" open={isOpen || hasError} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>More options</summary>
      <div className="form">
        {kind === 'any' && (
          <>
            <TextField
              label="Not before"
              type="datetime-local"
              hint={at === '' ? `In ${zone}; at once without a time.` : `In ${zone}; ${momentOf(at, zone)} in UTC.`}
              error={errors.at}
              value={at}
              onChange={(event) => change({ at: event.target.value })}
            />
            <TextField
              label="Spread over minutes"
              inputMode="numeric"
              hint="Each computer waits a random time within this, up to 1440 minutes. It spreads the load of many computers."
              error={errors.spread}
              value={spread}
              onChange={(event) => change({ spread: event.target.value })}
            />
          </>
        )}
        <AfterField value={after} error={errors.after} onChange={(id) => change({ after: id })} />
      </div>
    </details>
  );
}

function AfterField({
  value,
  error,
  onChange,
}: {
  value: string;
  error: string | null;
  onChange: (id: string) => void;
}) {
  const listId = useId();
  const { data } = useQuery({
    queryKey: ['activities', 'latest'],
    queryFn: async ({ signal }) =>
      (await client.GET('/activities/parents', { params: { query: { limit: 20 } }, signal })).data.results,
  });
  return (
    <Field
      label="After activity"
      hint="Its number. Each computer waits until it has succeeded there; where it fails, this is canceled."
      error={error}
    >
      {(control) => (
        <>
          <input
            className="input"
            inputMode="numeric"
            list={listId}
            value={value}
            onChange={(event) => onChange(event.target.value.trim())}
            {...control}
          />
          <datalist id={listId}>
            {data?.map(({ id, summary }) => (
              <option key={id} value={id}>
                {summary}
              </option>
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
