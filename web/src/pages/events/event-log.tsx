import type { components } from '@flotilla/client';
import { useEffect, useState } from 'react';
import { client } from '../../api/client.ts';
import { usePageSearch } from '../../url/use-page-search.ts';
import { CopyAs } from '../../ui/copy-as.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { EmptyState } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { type RowPage, useRows } from '../../ui/use-rows.ts';
import { EntryLink } from './subject-link.tsx';

type LogEntry = components['schemas']['Event'];

const DEFAULT_DAYS = '30';
const DAYS = [
  { value: '1', label: 'Last day' },
  { value: '7', label: 'Last 7 days' },
  { value: DEFAULT_DAYS, label: 'Last 30 days' },
  { value: '90', label: 'Last 90 days' },
  { value: '365', label: 'Last year' },
  { value: '36500', label: 'Everything that is kept' },
] as const;

const TYPING_MS = 300;

/** Who did what, when and from where, newest first. */
export function EventLog() {
  const { get, set } = usePageSearch();
  const search = get('search');
  const days = DAYS.find(({ value }) => value === get('days'))?.value ?? DEFAULT_DAYS;
  const rows = useRows<LogEntry>(['events', 'log', { search, days }], async (page, signal) => {
    const query = { ...page, days: Number(days), ...(search !== '' && { search }) };
    const { data } = await client.GET('/events', { params: { query }, signal });
    return data as RowPage<LogEntry>;
  });
  return (
    <>
      <div className="event-filters">
        <SearchField value={search} onChange={(text) => set({ search: text || undefined })} />
        <SelectField
          label="Period"
          options={DAYS}
          value={days}
          onChange={({ target }) => set({ days: target.value === DEFAULT_DAYS ? undefined : Number(target.value) })}
        />
        <span className="quiet" role="status">
          {rows.count !== null && `${rows.count.toLocaleString()} ${rows.count === 1 ? 'entry' : 'entries'}`}
        </span>
        <CopyAs
          request={{ method: 'GET', path: `/events?${new URLSearchParams({ days, ...(search && { search }) })}` }}
          command={['events', '--days', days, ...(search === '' ? [] : ['--search', search])]}
        />
      </div>
      <DataTable
        label="Event log"
        columns={COLUMNS}
        rows={rows}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title={search === '' ? 'Nothing has been done in this period' : 'No entry matches'}>
            The log has an entry for each change that somebody makes. Look further back, or search for less: part of a
            name or of what was done is enough.
          </EmptyState>
        }
      />
    </>
  );
}

/** Searches when the person pauses. */
function SearchField({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const [text, setText] = useState(value);
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = setTimeout(() => onChange(text.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);
  return (
    <TextField
      label="Search"
      type="search"
      maxLength={255}
      value={text}
      onChange={({ target }) => setText(target.value)}
    />
  );
}

const COLUMNS: readonly Column<LogEntry>[] = [
  {
    id: 'time',
    header: 'Time',
    width: '208px',
    cell: ({ creation_time }) => <Time value={creation_time} format="full" />,
  },
  {
    id: 'person',
    header: 'Person',
    width: 'minmax(120px, 1fr)',
    cell: ({ person_name }) => <Text text={person_name} />,
  },
  {
    id: 'message',
    header: 'What was done',
    width: 'minmax(280px, 4fr)',
    cell: ({ message }) => <Text text={message} />,
  },
  { id: 'entity', header: 'About', width: 'minmax(140px, 1.5fr)', cell: (entry) => <EntryLink entry={entry} /> },
  {
    id: 'address',
    header: 'From',
    width: '144px',
    cell: ({ address, request_id }) => <span title={`Request ${request_id}`}>{address}</span>,
  },
];

function Text({ text }: { text: string }) {
  return text === '' ? <span className="quiet">–</span> : <bdi title={text}>{text}</bdi>;
}
