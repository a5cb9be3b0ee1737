import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { client } from '../../api/client.ts';
import { usePageSearch } from '../../url/use-page-search.ts';
import { useCan, useMe } from '../../session/session.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState, PageLayout } from '../../ui/page.tsx';
import { ActivityState, StateMark } from '../../ui/state-mark.tsx';
import { Time } from '../../ui/time.tsx';
import { type RowSource, useRows } from '../../ui/use-rows.ts';
import { useSelection } from '../../ui/use-selection.ts';
import { ActivitiesFilters } from './activities-filters.tsx';
import type { Group } from './activity-queries.ts';
import './activities.css';
import { BulkActions } from './bulk-actions.tsx';
import { ENDED } from './line-at.ts';
import { ProgressBar } from './progress.tsx';

/** All activities, newest first. */
export function Page() {
  const { get } = usePageSearch();
  const navigate = useNavigate();
  const can = useCan();
  const me = useMe();
  const creator = get('mine') === 'true' && me ? `creator:"${me.email}"` : '';
  const status = get('status') && `status:${get('status')}`;
  const query = [get('query'), status, creator].filter(Boolean).join(' ');
  const rows = useGroups(query);
  const selection = useSelection('activities');
  const canManage = can('ManageComputer');
  return (
    <PageLayout
      title="Activities"
      aside={rows.count !== null && <span className="quiet">{rows.count.toLocaleString()}</span>}
      actions={canManage && <BulkActions rows={rows} selection={selection} />}
      fill
    >
      <ActivitiesFilters onChange={selection.clear} />
      <DataTable
        label="Activities"
        columns={COLUMNS}
        rows={rows}
        rowKey={({ id }) => id}
        rowLabel={({ summary }) => summary}
        onOpen={({ id }) => void navigate({ to: '/activities/$activityId', params: { activityId: String(id) } })}
        {...(canManage && { selection })}
        empty={query === '' ? <NoActivities /> : <NoMatches />}
      />
    </PageLayout>
  );
}

function useGroups(query: string): RowSource<Group> {
  const key = useMemo(() => ['activities', 'groups', query], [query]);
  return useRows<Group>(key, async (page, signal) => {
    const params = { query: { ...page, ...(query && { query }) } };
    return (await client.GET('/activities/parents', { params, signal })).data;
  });
}

function NoActivities() {
  return (
    <EmptyState title="Nothing has been done yet">
      Choose <Link to="/computers">computers</Link> and an action, such as installing a snap or running a script. Each
      action appears here with its progress on every computer.
    </EmptyState>
  );
}

function NoMatches() {
  return (
    <EmptyState title="No activity matches">
      A query has words of the summary and selectors, such as <code>computer:tag:lab</code>,{' '}
      <code>creator:ada@example.com</code> or <code>created-after:2026-05-04</code>.{' '}
      <Link to="/activities">Show all activities</Link>
    </EmptyState>
  );
}

const COLUMNS: readonly Column<Group>[] = [
  {
    id: 'status',
    header: 'Status',
    width: '136px',
    cell: (group) => <GroupState group={group} />,
  },
  {
    id: 'summary',
    header: 'Activity',
    width: 'minmax(200px, 3fr)',
    cell: ({ id, summary }) => (
      <Link to="/activities/$activityId" params={{ activityId: String(id) }} title={summary}>
        <bdi>{summary}</bdi>
      </Link>
    ),
  },
  { id: 'where', header: 'Computers', width: 'minmax(96px, 1fr)', cell: (group) => <Where group={group} /> },
  { id: 'bar', header: 'Progress', width: '128px', cell: (group) => <Bar group={group} /> },
  { id: 'good', header: 'Succeeded', width: '88px', align: 'end', cell: (group) => countOf(group, 'good') },
  { id: 'bad', header: 'Unsuccessful', width: '104px', align: 'end', cell: (group) => countOf(group, 'bad') },
  { id: 'open', header: 'Open', width: '72px', align: 'end', cell: (group) => countOf(group, 'warning') },
  {
    id: 'creator',
    header: 'Started by',
    width: 'minmax(112px, 1fr)',
    cell: ({ creator }) =>
      creator ? <bdi title={creator.email}>{creator.name}</bdi> : <span className="quiet">Flotilla</span>,
  },
  {
    id: 'created',
    header: 'Started',
    width: '120px',
    cell: ({ creation_time }) => <Time value={creation_time} format="relative" />,
  },
];

function GroupState({ group }: { group: Group }) {
  if (group.cancel_requested && !ENDED.includes(group.activity_status))
    return <StateMark tone="busy">Canceling</StateMark>;
  return <ActivityState status={group.activity_status} />;
}

function Where({ group: { computer, computer_count } }: { group: Group }) {
  if (!computer) return computer_count > 0 ? computer_count.toLocaleString() : <span className="quiet">–</span>;
  return (
    <Link to="/computers/$computerId" params={{ computerId: String(computer.id) }} title={computer.title}>
      <bdi>{computer.title}</bdi>
    </Link>
  );
}

function Bar({ group: { activity_status, children_count, children_statuses } }: { group: Group }) {
  if (children_count === 0) return null;
  const { good, bad } = children_statuses;
  // Without any failure the group is canceled.
  const [failed, canceled] = activity_status === 'canceled' ? [0, bad] : [bad, 0];
  const counts = { succeeded: good, failed, canceled, delivered: 0, total: children_count };
  return <ProgressBar counts={counts} />;
}

function countOf({ children_count, children_statuses }: Group, name: 'good' | 'warning' | 'bad') {
  const count = children_statuses[name];
  if (children_count === 0) return null;
  return count === 0 ? <span className="quiet">0</span> : count.toLocaleString();
}
