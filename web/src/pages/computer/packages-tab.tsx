import type { components } from '@flotilla/client';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { usePageSearch } from '../../url/use-page-search.ts';
import { useCan } from '../../session/session.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { EmptyState } from '../../ui/page.tsx';
import { StateMark, type StateTone } from '../../ui/state-mark.tsx';
import { useRows } from '../../ui/use-rows.ts';
import { useSelection } from '../../ui/use-selection.ts';
import { ListFilter } from './list-filter.tsx';
import type { ComputerDetail } from './use-computer.ts';

type Package = components['schemas']['ComputerPackage'];

const SHOWN = [
  { value: 'installed', label: 'Installed', filter: { installed: true } },
  { value: 'upgrade', label: 'With upgrades', filter: { upgrade: true } },
  { value: 'security', label: 'With security upgrades', filter: { security: true } },
  { value: 'held', label: 'Held', filter: { held: true } },
  { value: 'available', label: 'Available, not installed', filter: { available: true, installed: false } },
] as const;

const STATES: Record<Package['status'], { tone: StateTone; label: string }> = {
  installed: { tone: 'good', label: 'Installed' },
  available: { tone: 'idle', label: 'Available' },
  upgrade: { tone: 'busy', label: 'Upgrade' },
  security: { tone: 'warn', label: 'Security upgrade' },
  held: { tone: 'idle', label: 'Held' },
};

const ACTIONS = [
  { action: 'install-packages', label: 'Install…' },
  { action: 'upgrade-packages', label: 'Upgrade…' },
  { action: 'downgrade-packages', label: 'Downgrade…' },
  { action: 'remove-packages', label: 'Remove…' },
  { action: 'hold-packages', label: 'Hold…' },
  { action: 'unhold-packages', label: 'Release…' },
] as const;

const COLUMNS: readonly Column<Package>[] = [
  { id: 'name', header: 'Package', width: 'minmax(160px, 1fr)', cell: ({ name }) => <bdi title={name}>{name}</bdi> },
  {
    id: 'state',
    header: 'State',
    width: '152px',
    cell: ({ status }) => <StateMark tone={STATES[status].tone}>{STATES[status].label}</StateMark>,
  },
  {
    id: 'current',
    header: 'Installed',
    width: 'minmax(136px, 1fr)',
    cell: (row) => <bdi>{row.current_version ?? '–'}</bdi>,
  },
  {
    id: 'newest',
    header: 'Newest',
    width: 'minmax(136px, 1fr)',
    cell: (row) => <bdi>{row.available_version ?? '–'}</bdi>,
  },
  {
    id: 'summary',
    header: 'Summary',
    width: 'minmax(200px, 2fr)',
    cell: ({ summary }) => <bdi title={summary}>{summary}</bdi>,
  },
];

/** The packages of a computer, with what can be done with some of them. */
export function PackagesTab({ computer }: { computer: ComputerDetail }) {
  const { get } = usePageSearch();
  const shown = SHOWN.find(({ value }) => value === get('show')) ?? SHOWN[0];
  const search = get('search');
  return <Packages key={`${shown.value} ${search}`} computer={computer} shown={shown} search={search} />;
}

function Packages({
  computer: { id, archived, access_group },
  shown,
  search,
}: {
  computer: ComputerDetail;
  shown: (typeof SHOWN)[number];
  search: string;
}) {
  const { set } = usePageSearch();
  const can = useCan();
  const rows = useRows<Package>(['computer', id, 'packages', shown.value, search], async (page, signal) => {
    const query = { ...shown.filter, ...(search !== '' && { search }), ...page };
    const params = { path: { computer_id: id }, query };
    return (await client.GET('/computers/{computer_id}/packages', { params, signal })).data;
  });
  const selection = useSelection(`packages.${id}`);
  const act = useActOn(id, async () => {
    const all = await rows.read(0, (rows.count ?? 0) - 1);
    return all.filter((row) => selection.has(row.id)).map(({ name }) => name);
  });
  const isEditable = !archived && can('ManageComputer', access_group);
  return (
    <>
      <ListFilter
        label="Packages"
        search={search}
        shown={shown.value}
        options={SHOWN}
        count={rows.count}
        onChange={(changes) => set(changes)}
      >
        {isEditable && (
          <Menu label={`Selected packages (${selection.ids.size})`} disabled={selection.ids.size === 0}>
            {ACTIONS.map(({ action, label }) => (
              <MenuItem key={action} onSelect={() => act.mutate(action)}>
                {label}
              </MenuItem>
            ))}
          </Menu>
        )}
      </ListFilter>
      <ErrorMessage error={act.error} />
      <DataTable
        label="Packages"
        columns={COLUMNS}
        rows={rows}
        rowKey={(row) => row.id}
        rowLabel={({ name }) => name}
        {...(isEditable && { selection })}
        empty={<EmptyState title="No such packages" />}
      />
    </>
  );
}

/** Opens the form of an action on packages with the names of the chosen ones. */
function useActOn(id: number, readNames: () => Promise<string[]>) {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async (action: string) => {
      const names = await readNames();
      await navigate({ to: '/act/$action', params: { action }, search: { ids: id, packages: names.join(' ') } });
    },
  });
}
