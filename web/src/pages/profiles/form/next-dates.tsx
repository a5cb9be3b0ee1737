import { ApiError } from '@flotilla/client';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { ErrorMessage } from '../../../ui/error-message.tsx';
import { Skeleton } from '../../../ui/page.tsx';
import { useDebounced } from '../../../ui/use-debounced.ts';
import { DateList } from '../profile-parts.tsx';
import type { Dates, ProfileKind } from '../profile-types.ts';

const PAUSE_MS = 300;

/** The dates that a form would give its profile. */
export interface NextDatesState {
  /** Those of the last valid fields; undefined before there were any. */
  dates: Dates | undefined;
  /** Whether they are those of the present fields. */
  isCurrent: boolean;
  isLoading: boolean;
  /** What is wrong with the present fields. */
  error: unknown;
}

interface NextDatesOptions<T> {
  kind: ProfileKind;
  /** Of the profile that is changed. */
  id?: number;
  /** What decides on the dates; null while it is incomplete. */
  body: T | null;
  read: (body: T, signal: AbortSignal) => Promise<{ data: Dates }>;
}

/** Has the server compute the dates of a form when typing pauses. */
export function useNextDates<T>({ kind, id, body, read }: NextDatesOptions<T>): NextDatesState {
  const debounced = useDebounced(JSON.stringify(body), PAUSE_MS);
  const { data, error, isLoading } = useQuery({
    queryKey: ['profile', kind, id ?? 'new', 'next-dates', debounced],
    queryFn: async ({ signal }) => (await read(JSON.parse(debounced) as T, signal)).data,
    enabled: debounced !== 'null',
  });
  const [dates, setDates] = useState(data);
  if (data && data !== dates) setDates(data);
  return { dates: data ?? dates, isCurrent: data !== undefined, isLoading, error };
}

/** What the server says about the fields of the schedule: about the present ones, or when the form was sent. */
export function scheduleError({ isCurrent, error }: NextDatesState, saveError: unknown): unknown {
  return isCurrent ? null : (error ?? saveError);
}

/** The next dates of a profile that is not saved; quiet while they are not those of the fields above. */
export function NextDates({ dates, isCurrent, isLoading, error }: NextDatesState) {
  const id = useId();
  const isAtField = error instanceof ApiError && error.details.length > 0;
  return (
    <section className={isCurrent ? 'next-dates' : 'next-dates quiet'} aria-labelledby={id}>
      <h2 id={id}>Next dates</h2>
      <ErrorMessage error={isAtField ? null : error} />
      {!dates && (isLoading ? <Skeleton lines={5} /> : <p className="quiet">Shown when the fields above are valid.</p>)}
      {dates && (dates.dates.length > 0 ? <DateList {...dates} /> : <p className="quiet">None after now.</p>)}
    </section>
  );
}
