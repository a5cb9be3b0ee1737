import type { components } from '@flotilla/client';
import { client } from '../../api/client.ts';
import { usePageSearch } from '../../url/use-page-search.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/page.tsx';
import { StateMark } from '../../ui/state-mark.tsx';
import { useRows } from '../../ui/use-rows.ts';
import { ListFilter } from './list-filter.tsx';
import type { ComputerDetail } from './use-computer.ts';

/** User ids may repeat or be unknown, so that the place in the list is the key. */
type User = components['schemas']['ComputerUser'] & { index: number };

const COLUMNS: readonly Column<User>[] = [
  {
    id: 'username',
    header: 'User',
    width: 'minmax(136px, 1fr)',
    cell: ({ username }) => <bdi title={username}>{username}</bdi>,
  },
  { id: 'name', header: 'Full name', width: 'minmax(160px, 1fr)', cell: ({ name }) => <Text text={name} /> },
  { id: 'uid', header: 'User id', width: '96px', align: 'end', cell: ({ uid }) => uid ?? '–' },
  {
    id: 'groups',
    header: 'Groups',
    width: 'minmax(200px, 2fr)',
    cell: ({ groups }) => <Text text={groups.join(', ')} />,
  },
  {
    id: 'password',
    header: 'Password',
    width: '104px',
    cell: ({ enabled }) => (enabled ? '–' : <StateMark tone="idle">Locked</StateMark>),
  },
  { id: 'contact', header: 'Contact', width: 'minmax(136px, 1fr)', cell: (user) => <Text text={contactOf(user)} /> },
];

/** The local users of a computer. */
export function UsersTab({ computer: { id } }: { computer: ComputerDetail }) {
  const { get } = usePageSearch();
  const search = get('search');
  return <Users key={search} id={id} search={search} />;
}

function Users({ id, search }: { id: number; search: string }) {
  const { set } = usePageSearch();
  const rows = useRows<User>(['computer', id, 'users', search], async (page, signal) => {
    const query = { ...(search !== '' && { search }), ...page };
    const params = { path: { computer_id: id }, query };
    const { count, results } = (await client.GET('/computers/{computer_id}/users', { params, signal })).data;
    return { count, results: results.map((user, index) => ({ ...user, index: page.offset + index })) };
  });
  return (
    <>
      <ListFilter
        label="Users"
        search={search}
        shown=""
        options={[]}
        count={rows.count}
        onChange={(changes) => set(changes)}
      />
      <DataTable
        label="Users"
        columns={COLUMNS}
        rows={rows}
        rowKey={({ index }) => index}
        empty={search === '' ? <NoUsers /> : <EmptyState title="No such users" />}
      />
    </>
  );
}

function NoUsers() {
  return (
    <EmptyState title="No users were reported">
      A computer reports the local users of its /etc/passwd with their groups, never their passwords. They come with its
      next report; Windows has none to report.
    </EmptyState>
  );
}

function Text({ text }: { text: string | null }) {
  return text ? <bdi title={text}>{text}</bdi> : '–';
}

function contactOf({ location, work_phone: work, home_phone: home }: User): string {
  return [location, work, home].filter(Boolean).join(', ');
}
