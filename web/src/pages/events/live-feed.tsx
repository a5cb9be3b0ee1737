import type { EventType } from '@flotilla/client';
import { useMemo } from 'react';
import { usePageSearch } from '../../url/use-page-search.ts';
import { useLiveState } from '../../live/live.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyAs } from '../../ui/copy-as.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { SelectField } from '../../ui/field.tsx';
import { EmptyState } from '../../ui/page.tsx';
import { StateMark } from '../../ui/state-mark.tsx';
import { Time } from '../../ui/time.tsx';
import { allRows } from '../../ui/use-rows.ts';
import { EVENT_LABELS, EVENT_TYPES, eventText } from './event-text.ts';
import { EventSubject } from './subject-link.tsx';
import { type FeedEvent, useEventFeed } from './use-event-feed.ts';

const TYPE_OPTIONS = [
  { value: '', label: 'All types' },
  ...EVENT_TYPES.map((type) => ({ value: type as string, label: EVENT_LABELS[type] })),
];

/** What happens, as it happens. */
export function LiveFeed() {
  const { get, set } = usePageSearch();
  const { events, isPaused, waiting, toggle, clear } = useEventFeed();
  const type = EVENT_TYPES.find((known) => known === get('type'));
  const rows = useMemo(() => (type ? events.filter(({ event }) => event.type === type) : events), [events, type]);
  return (
    <>
      <div className="event-filters">
        <SelectField
          label="Type"
          options={TYPE_OPTIONS}
          value={type ?? ''}
          onChange={({ target }) => set({ type: target.value || undefined })}
        />
        <Button onClick={toggle}>{isPaused ? 'Resume' : 'Pause'}</Button>
        <Button onClick={clear}>Clear</Button>
        <FeedState isPaused={isPaused} waiting={waiting} />
        <CopyFeed type={type} />
      </div>
      <DataTable
        label="Live events"
        columns={COLUMNS}
        rows={allRows(rows)}
        rowKey={({ number }) => number}
        empty={
          <EmptyState title="Nothing has happened since you opened this page">
            Events appear here within a second: what computers report, results of activities, alerts, and what other
            administrators do.
          </EmptyState>
        }
      />
    </>
  );
}

function FeedState({ isPaused, waiting }: { isPaused: boolean; waiting: number }) {
  const state = useLiveState();
  if (isPaused) return <StateMark tone="idle">{`Paused, ${waiting.toLocaleString()} new`}</StateMark>;
  if (state === 'live') return <StateMark tone="good">Live</StateMark>;
  return <StateMark tone="warn">{state === 'connecting' ? 'Connecting' : 'Interrupted'}</StateMark>;
}

function CopyFeed({ type }: { type: EventType | undefined }) {
  const query = type ? `?types=${type}` : '';
  return (
    <CopyAs
      request={{ method: 'GET', path: `/events:stream${query}` }}
      command={['events', '-f', ...(type ? ['--types', type] : [])]}
    />
  );
}

const COLUMNS: readonly Column<FeedEvent>[] = [
  { id: 'time', header: 'Time', width: '208px', cell: ({ event }) => <Time value={event.time} format="full" /> },
  { id: 'type', header: 'Type', width: '176px', cell: ({ event }) => EVENT_LABELS[event.type] ?? event.type },
  {
    id: 'text',
    header: 'What happened',
    width: 'minmax(280px, 4fr)',
    cell: ({ event }) => <bdi title={eventText(event)}>{eventText(event)}</bdi>,
  },
  { id: 'subject', header: 'About', width: 'minmax(176px, 1fr)', cell: ({ event }) => <EventSubject event={event} /> },
];
