import type { components } from '@flotilla/client';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { useCan } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { EmptyState } from '../../ui/page.tsx';
import { StateMark } from '../../ui/state-mark.tsx';
import { Time } from '../../ui/time.tsx';
import { allRows } from '../../ui/use-rows.ts';
import { useSelection } from '../../ui/use-selection.ts';
import type { ComputerDetail } from './use-computer.ts';

type Snap = components['schemas']['InstalledSnap'] & { index: number };

const ACTIONS = [
  { action: 'refresh-snaps', label: 'Refresh…' },
  { action: 'hold-snaps', label: 'Hold…' },
  { action: 'unhold-snaps', label: 'Release…' },
  { action: 'remove-snaps', label: 'Remove…' },
] as const;

const COLUMNS: readonly Column<Snap>[] = [
  {
    id: 'name',
    header: 'Snap',
    width: 'minmax(160px, 1fr)',
    cell: ({ snap }) => <bdi title={snap.name}>{snap.name}</bdi>,
  },
  { id: 'version', header: 'Version', width: 'minmax(104px, 1fr)', cell: ({ version }) => <bdi>{version}</bdi> },
  { id: 'revision', header: 'Revision', width: '88px', align: 'end', cell: ({ revision }) => revision },
  {
    id: 'channel',
    header: 'Channel',
    width: 'minmax(120px, 1fr)',
    cell: (row) => <bdi>{row.tracking_channel ?? '–'}</bdi>,
  },
  { id: 'held', header: 'Updates', width: '168px', cell: ({ held_until: until }) => <Held until={until} /> },
  { id: 'confinement', header: 'Confinement', width: '104px', cell: ({ confinement }) => confinement ?? '–' },
  {
    id: 'publisher',
    header: 'Publisher',
    width: 'minmax(104px, 1fr)',
    cell: ({ snap: { publisher } }) => <bdi>{publisher.username ?? '–'}</bdi>,
  },
  {
    id: 'summary',
    header: 'Summary',
    width: 'minmax(160px, 2fr)',
    cell: ({ snap: { summary } }) => <bdi title={summary ?? ''}>{summary ?? '–'}</bdi>,
  },
];

/** The snaps of a computer, with what can be done with some of them. */
export function SnapsTab({ computer: { id, archived, access_group } }: { computer: ComputerDetail }) {
  const can = useCan();
  const navigate = useNavigate();
  const selection = useSelection(`snaps.${id}`);
  const { data, error } = useQuery({
    queryKey: ['computer', id, 'snaps'],
    queryFn: async ({ signal }) => {
      const params = { path: { computer_id: id } };
      const { results } = (await client.GET('/computers/{computer_id}/snaps/installed', { params, signal })).data;
      return results.map((snap, index) => ({ ...snap, index }));
    },
  });
  const open = (action: string, names: readonly string[]) =>
    void navigate({ to: '/act/$action', params: { action }, search: { ids: id, snaps: names.join(' ') || undefined } });
  const chosen = (data ?? []).filter(({ index }) => selection.has(index)).map(({ snap }) => snap.name);
  const isEditable = !archived && can('ManageComputer', access_group);
  return (
    <>
      {isEditable && (
        <div className="button-row">
          <Button onClick={() => open('install-snaps', [])}>Install a snap…</Button>
          <Menu label={`Selected snaps (${chosen.length})`} disabled={chosen.length === 0}>
            {ACTIONS.map(({ action, label }) => (
              <MenuItem key={action} onSelect={() => open(action, chosen)}>
                {label}
              </MenuItem>
            ))}
          </Menu>
        </div>
      )}
      <DataTable
        label="Snaps"
        columns={COLUMNS}
        rows={allRows(data, error)}
        rowKey={({ index }) => index}
        rowLabel={({ snap }) => snap.name}
        {...(isEditable && { selection })}
        empty={<EmptyState title="No snaps are installed">Or the computer has not reported them yet.</EmptyState>}
      />
    </>
  );
}

function Held({ until }: { until: string | null }) {
  if (until === null) return <StateMark tone="good">Automatic</StateMark>;
  if (until === 'forever') return <StateMark tone="idle">Held</StateMark>;
  return (
    <>
      <StateMark tone="idle">Held until</StateMark> <Time value={until} />
    </>
  );
}
