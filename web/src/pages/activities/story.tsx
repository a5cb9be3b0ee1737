import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { client } from '../../api/client.ts';
import { usePageSearch } from '../../url/use-page-search.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { SelectField } from '../../ui/field.tsx';
import { EmptyState } from '../../ui/page.tsx';
import { ActivityState, StateMark } from '../../ui/state-mark.tsx';
import { Time } from '../../ui/time.tsx';
import { useRows } from '../../ui/use-rows.ts';
import { STATUS_OPTIONS } from './activities-filters.tsx';
import type { Activity } from './activity-queries.ts';
import { ENDED, type Line, lineAt } from './line-at.ts';
import { Happening } from './happening.tsx';
import { SearchField } from './search-field.tsx';

const FILTERS = ['status', 'computer', 'result', 'failure'] as const;

interface StoryProps {
  activity: Activity;
  total: number;
  /** Null for now. */
  moment: number | null;
}

/** The computers of an activity, each with what it waits for or how it ended, at a moment. */
export function Story({ activity, total, moment }: StoryProps) {
  const navigate = useNavigate();
  const { search, set } = usePageSearch();
  const filter = useMemo(() => {
    const given = FILTERS.filter((name) => search[name] !== undefined).map((name) => [name, String(search[name])]);
    return Object.fromEntries(given) as Record<string, string>;
  }, [search]);
  const { id } = activity;
  const rows = useRows<Line>(['story', id, 'lines', filter], async (page, signal) => {
    const params = { path: { activity_id: id }, query: { ...page, ...filter } };
    return (await client.GET('/activities/{activity_id}/computers', { params, signal })).data;
  });
  const columns = useMemo(() => columnsAt(moment, id), [moment, id]);
  const hasSteps = new Set(activity.children.map(({ summary }) => summary)).size > 1;
  const open = (line: Line) => {
    if (line.id !== id) void navigate({ to: '/activities/$activityId', params: { activityId: String(line.id) } });
  };
  const isFiltered = Object.keys(filter).length > 0;
  const clear = () => set(Object.fromEntries(FILTERS.map((name) => [name, undefined])));
  return (
    <div className="story">
      {total > 1 && <StoryFilters count={rows.count} onClear={isFiltered ? clear : null} isPast={moment !== null} />}
      <DataTable
        label="Computers"
        columns={columns}
        rows={rows}
        rowKey={(line) => line.id}
        onOpen={open}
        hidden={hasSteps ? [] : ['step']}
        empty={
          <EmptyState title="No computer of this activity matches">
            <Button kind="quiet" onClick={clear}>
              Show all
            </Button>
          </EmptyState>
        }
      />
    </div>
  );
}

interface StoryFiltersProps {
  count: number | null;
  onClear: (() => void) | null;
  isPast: boolean;
}

function StoryFilters({ count, onClear, isPast }: StoryFiltersProps) {
  const { get, set } = usePageSearch();
  return (
    <search className="filters">
      <SearchField
        label="Computer"
        value={get('computer')}
        onChange={(value) => set({ computer: value || undefined })}
      />
      <SelectField
        label={isPast ? 'Status now' : 'Status'}
        options={STATUS_OPTIONS}
        value={get('status')}
        onChange={({ target }) => set({ status: target.value || undefined, failure: undefined })}
      />
      <SearchField
        label="Result contains"
        value={get('result')}
        onChange={(value) => set({ result: value || undefined, failure: undefined })}
      />
      {onClear && (
        <span className="button-row">
          <span className="quiet">{count?.toLocaleString()} found</span>
          <Button kind="quiet" onClick={onClear}>
            Show all
          </Button>
        </span>
      )}
    </search>
  );
}

const TIME = '112px';

function columnsAt(moment: number | null, activityId: number): readonly Column<Line>[] {
  return [
    { id: 'status', header: 'Status', width: '136px', cell: (line) => <LineStatus line={line} moment={moment} /> },
    {
      id: 'computer',
      header: 'Computer',
      width: 'minmax(136px, 1fr)',
      cell: ({ computer_id, computer_title: title }) => (
        <Link to="/computers/$computerId" params={{ computerId: String(computer_id) }} title={title ?? undefined}>
          <bdi>{title ?? `Computer ${computer_id}`}</bdi>
        </Link>
      ),
    },
    {
      id: 'step',
      header: 'Step',
      width: 'minmax(136px, 1fr)',
      cell: ({ summary }) => <bdi title={summary}>{summary}</bdi>,
    },
    {
      id: 'happening',
      header: 'Waits for, or result',
      width: 'minmax(240px, 3fr)',
      cell: (line) => <Happening line={line} state={lineAt(line, moment)} />,
    },
    {
      id: 'due',
      header: 'Queued',
      width: TIME,
      cell: (line) => <Time value={lineAt(line, moment).due} format="clock" />,
    },
    {
      id: 'delivered',
      header: 'Delivered',
      width: TIME,
      cell: (line) => <Time value={lineAt(line, moment).delivered} format="clock" />,
    },
    {
      id: 'ended',
      header: 'Ended',
      width: TIME,
      cell: (line) => <Time value={lineAt(line, moment).ended} format="clock" />,
    },
    {
      id: 'details',
      header: 'Details',
      width: '72px',
      cell: ({ id, computer_title }) =>
        id !== activityId && (
          <Link
            to="/activities/$activityId"
            params={{ activityId: String(id) }}
            aria-label={`Details of ${computer_title ?? id}`}
          >
            Details
          </Link>
        ),
    },
  ];
}

function LineStatus({ line, moment }: { line: Line; moment: number | null }) {
  const { status } = lineAt(line, moment);
  if (moment === null && line.cancel_requested && !ENDED.includes(status)) {
    return <StateMark tone="busy">Canceling</StateMark>;
  }
  return <ActivityState status={status} />;
}
