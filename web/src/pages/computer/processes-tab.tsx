import type { components } from '@flotilla/client';
import { useNavigate } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { useCan } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { useRows } from '../../ui/use-rows.ts';
import { useSelection } from '../../ui/use-selection.ts';
import type { ComputerDetail } from './use-computer.ts';

type Process = components['schemas']['Process'];

const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
/** What one request can act on. */
const MAX_CHOSEN = 100;

const STATES: Readonly<Record<string, string>> = {
  R: 'Running',
  S: 'Sleeping',
  D: 'Waiting for a device',
  T: 'Stopped',
  Z: 'Zombie',
  I: 'Idle',
};

const COLUMNS: readonly Column<Process>[] = [
  { id: 'pid', header: 'PID', width: '80px', align: 'end', cell: ({ pid }) => pid },
  { id: 'name', header: 'Name', width: 'minmax(160px, 2fr)', cell: ({ name }) => <bdi title={name}>{name}</bdi> },
  { id: 'state', header: 'State', width: 'minmax(104px, 1fr)', cell: ({ state }) => STATES[state] ?? state },
  {
    id: 'cpu',
    header: 'Processor',
    width: '88px',
    align: 'end',
    cell: ({ cpu_utilisation: percent }) => (percent === null ? '–' : `${numbers.format(percent)} %`),
  },
  {
    id: 'memory',
    header: 'Memory',
    width: '104px',
    align: 'end',
    cell: ({ vm_size: size }) => (size === null ? '–' : `${numbers.format(size / 1024)} MiB`),
  },
  { id: 'gid', header: 'Group id', width: '80px', align: 'end', cell: ({ gid }) => gid ?? '–' },
  { id: 'started', header: 'Started', width: '168px', cell: ({ start_time: time }) => <Time value={time} /> },
];

/** The processes that a computer last reported, which can be ended. */
export function ProcessesTab({ computer: { id, archived, access_group } }: { computer: ComputerDetail }) {
  const can = useCan();
  const navigate = useNavigate();
  const selection = useSelection(`processes.${id}`);
  const rows = useRows<Process>(['computer', id, 'processes'], async (page, signal) => {
    const params = { path: { computer_id: id }, query: page };
    return (await client.GET('/computers/{computer_id}/processes', { params, signal })).data;
  });
  const open = (action: string) => {
    const pids = [...selection.ids].join(' ');
    void navigate({ to: '/act/$action', params: { action }, search: { ids: id, pids } });
  };
  const count = selection.ids.size;
  const isEditable = !archived && can('ManageComputer', access_group);
  return (
    <>
      {isEditable && (
        <div className="button-row">
          <Button disabled={count === 0 || count > MAX_CHOSEN} onClick={() => open('terminate-processes')}>
            Terminate…
          </Button>
          <Button disabled={count === 0 || count > MAX_CHOSEN} onClick={() => open('kill-processes')}>
            Kill…
          </Button>
          <span role="status" className="quiet">
            {count > MAX_CHOSEN ? `At most ${MAX_CHOSEN} processes at once` : `${count} selected`}
          </span>
        </div>
      )}
      <DataTable
        label="Processes"
        columns={COLUMNS}
        rows={rows}
        rowKey={({ pid }) => pid}
        rowLabel={({ name, pid }) => `${name} (${pid})`}
        {...(isEditable && { selection })}
        empty={<EmptyState title="No processes were reported">They come with the computer's next report.</EmptyState>}
      />
    </>
  );
}
