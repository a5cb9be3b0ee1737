import { Link } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Section } from '../../ui/page.tsx';
import { ActivityState, StateMark } from '../../ui/state-mark.tsx';
import { Time } from '../../ui/time.tsx';
import { useRows } from '../../ui/use-rows.ts';
import type { ScriptProfile, UsgRun } from './profile-types.ts';

type ScriptRun = NonNullable<ScriptProfile['activities']['last_activity']>;

/** The runs of a USG profile, each with a link to its activity. */
export function UsgRuns({ id }: { id: number }) {
  const rows = useRows(['profile', 'usg', id, 'runs'], async (page, signal) => {
    const params = { path: { usg_profile_id: id }, query: page };
    return (await client.GET('/usg-profiles/{usg_profile_id}/runs', { params, signal })).data;
  });
  return (
    <Section title="Runs">
      <DataTable label="Runs" columns={USG_COLUMNS} rows={rows} rowKey={usgRunKey} empty={<NoRuns />} />
    </Section>
  );
}

/** The runs of a script profile, each with a link to its activity. */
export function ScriptRuns({ id }: { id: number }) {
  const rows = useRows(['profile', 'script', id, 'runs'], async (page, signal) => {
    const params = { path: { script_profile_id: id }, query: page };
    return (await client.GET('/script-profiles/{script_profile_id}/activities', { params, signal })).data;
  });
  return (
    <Section title="Runs">
      <DataTable label="Runs" columns={SCRIPT_COLUMNS} rows={rows} rowKey={({ id }) => id} empty={<NoRuns />} />
    </Section>
  );
}

function NoRuns() {
  return <p className="quiet">It has not run yet.</p>;
}

const usgRunKey = ({ started_at }: UsgRun) => Date.parse(started_at);

const USG_COLUMNS: ReadonlyArray<Column<UsgRun>> = [
  {
    id: 'started',
    header: 'Started',
    width: 'minmax(176px, 1fr)',
    cell: ({ activity_id, started_at }) =>
      activity_id === null ? (
        <Time value={started_at} />
      ) : (
        <Link to="/activities/$activityId" params={{ activityId: String(activity_id) }}>
          <Time value={started_at} />
        </Link>
      ),
  },
  { id: 'state', header: 'Status', width: '120px', cell: (run) => <UsgRunState run={run} /> },
  {
    id: 'by',
    header: 'Started by',
    width: '112px',
    cell: ({ scheduled_time }) => (scheduled_time ? 'Schedule' : 'Person'),
  },
  { id: 'computers', header: 'Computers', width: '96px', align: 'end', cell: ({ computers }) => computers },
  { id: 'passing', header: 'Passing', width: '88px', align: 'end', cell: ({ passing }) => passing },
  { id: 'failing', header: 'Failing', width: '88px', align: 'end', cell: ({ failing }) => failing },
  {
    id: 'missing',
    header: 'Not audited',
    width: '104px',
    align: 'end',
    cell: ({ in_progress, not_started }) => in_progress + not_started,
  },
  {
    id: 'rate',
    header: 'Passing share',
    width: '112px',
    align: 'end',
    cell: ({ pass_rate }) => (pass_rate === null ? '–' : `${pass_rate} %`),
  },
];

function UsgRunState({ run }: { run: UsgRun }) {
  if (run.open) return <StateMark tone="busy">In progress</StateMark>;
  if (run.failing > 0) return <StateMark tone="bad">Failing</StateMark>;
  return run.passing > 0 ? <StateMark tone="good">Passing</StateMark> : <StateMark tone="idle">No results</StateMark>;
}

const SCRIPT_COLUMNS: ReadonlyArray<Column<ScriptRun>> = [
  {
    id: 'started',
    header: 'Started',
    width: 'minmax(176px, 1fr)',
    cell: ({ id, creation_time }) => (
      <Link to="/activities/$activityId" params={{ activityId: String(id) }}>
        <Time value={creation_time} />
      </Link>
    ),
  },
  { id: 'state', header: 'Status', width: '144px', cell: (run) => <ActivityState status={run.activity_status} /> },
  { id: 'computers', header: 'Computers', width: '96px', align: 'end', cell: ({ computer_count }) => computer_count },
  { id: 'good', header: 'Succeeded', width: '96px', align: 'end', cell: ({ children_statuses: { good } }) => good },
  { id: 'bad', header: 'Failed', width: '96px', align: 'end', cell: ({ children_statuses: { bad } }) => bad },
  { id: 'ended', header: 'Ended', width: '176px', cell: ({ completion_time }) => <Time value={completion_time} /> },
];
