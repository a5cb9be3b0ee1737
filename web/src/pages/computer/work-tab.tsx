import type { components } from '@flotilla/client';
import { Link } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { usePageSearch } from '../../url/use-page-search.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/page.tsx';
import { ActivityState } from '../../ui/state-mark.tsx';
import { Time } from '../../ui/time.tsx';
import { useRows } from '../../ui/use-rows.ts';
import type { ComputerDetail } from './use-computer.ts';

type Activity = components['schemas']['DetailedActivity'];

const SHOWN = [
  { value: 'all', label: 'Everything', filter: {} },
  { value: 'open', label: 'Now and waiting', filter: { open: true } },
  { value: 'ended', label: 'Ended', filter: { open: false } },
] as const;

const COLUMNS: readonly Column<Activity>[] = [
  { id: 'summary', header: 'Activity', width: 'minmax(200px, 2fr)', cell: (row) => <ActivityLink {...row} /> },
  { id: 'state', header: 'State', width: '136px', cell: (row) => <ActivityState status={row.activity_status} /> },
  { id: 'why', header: 'Waits for, or result', width: 'minmax(200px, 2fr)', cell: (row) => <Outcome {...row} /> },
  { id: 'who', header: 'By', width: 'minmax(104px, 1fr)', cell: ({ creator }) => <bdi>{creator?.name ?? '–'}</bdi> },
  { id: 'created', header: 'Created', width: '152px', cell: (row) => <Time value={row.creation_time} /> },
  { id: 'ended', header: 'Ended', width: '152px', cell: (row) => <Time value={row.completion_time} /> },
];

/** What was done on a computer, what is being done, and what waits and why. */
export function WorkTab({ computer: { id } }: { computer: ComputerDetail }) {
  const { get, set } = usePageSearch();
  const shown = SHOWN.find(({ value }) => value === get('show')) ?? SHOWN[0];
  const rows = useRows<Activity>(['activities', 'computer', id, shown.value], async (page, signal) => {
    const query = { computer_ids: [id], operations_only: true, ...shown.filter, ...page };
    return (await client.GET('/computers/activities', { params: { query }, signal })).data;
  });
  return (
    <>
      <div className="button-row">
        {SHOWN.map(({ value, label }) => (
          <button
            key={value}
            type="button"
            className="button button-plain work-filter"
            aria-pressed={value === shown.value}
            onClick={() => set({ show: value === 'all' ? undefined : value })}
          >
            {label}
          </button>
        ))}
      </div>
      <DataTable
        label="Work on this computer"
        columns={COLUMNS}
        rows={rows}
        rowKey={(row) => row.id}
        empty={
          <EmptyState title="Nothing here">
            The menu Actions has what can be done with this computer; all of it appears here.
          </EmptyState>
        }
      />
    </>
  );
}

/** The group has the story of all its computers. */
function ActivityLink({ id, parent_id: parent, summary }: Activity) {
  return (
    <Link to="/activities/$activityId" params={{ activityId: String(parent ?? id) }} title={summary}>
      <bdi>{summary}</bdi>
    </Link>
  );
}

function Outcome(activity: Activity) {
  const { activity_status: status, after, deliver_after_time: time, result_text: text } = activity;
  if (activity.cancel_requested) return 'Is being canceled';
  switch (status) {
    case 'unapproved':
      return 'Approval by an administrator';
    case 'blocked':
      return 'Release by an administrator';
    case 'scheduled':
      return (
        <>
          Its time: <Time value={time} />
        </>
      );
    case 'waiting':
      return after === undefined ? 'Earlier work on this computer' : <AfterLink id={after} />;
    case 'undelivered':
      return 'The next contact of the computer';
    case 'delivered':
      return 'The result from the computer';
    default:
      return text ? <bdi title={text}>{text.split('\n')[0]}</bdi> : <span className="quiet">–</span>;
  }
}

function AfterLink({ id }: { id: number }) {
  return (
    <Link to="/activities/$activityId" params={{ activityId: String(id) }}>
      Success of activity {id}
    </Link>
  );
}
