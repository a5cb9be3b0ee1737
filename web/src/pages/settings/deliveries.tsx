import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { client } from '../../api/client.ts';
import { usePageSearch } from '../../url/use-page-search.ts';
import { Button } from '../../ui/button.tsx';
import { CopyAs } from '../../ui/copy-as.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { EmptyState } from '../../ui/page.tsx';
import { StateMark, type StateTone } from '../../ui/state-mark.tsx';
import { Time } from '../../ui/time.tsx';
import { type RowSource, useRows } from '../../ui/use-rows.ts';
import { type Selection, useSelection } from '../../ui/use-selection.ts';
import { eventLabel } from './event-types.ts';
import { type Delivery, webhooksQuery } from './queries.ts';

const STATES: Record<Delivery['status'], { tone: StateTone; label: string }> = {
  pending: { tone: 'busy', label: 'Pending' },
  delivered: { tone: 'good', label: 'Delivered' },
  failed: { tone: 'bad', label: 'Failed' },
};
/** Deliveries have no events of their own, so those that are pending are read again: often until the second attempt. */
const REFRESH_MS = { first: 2000, later: 30_000 };
const WATCHED = 50;

/** The beginning of the keys of a webhook's deliveries. */
export const deliveriesKey = (webhookId: number) => ['webhook-deliveries', webhookId];

/** What was sent to a webhook and became of it, newest first; a selection can be sent again. */
export function Deliveries({ webhookId }: { webhookId: number }) {
  const { get, set } = usePageSearch();
  const status = (['pending', 'delivered', 'failed'] as const).find((known) => known === get('status'));
  const params = { path: { webhook_id: webhookId } };
  const rows = useRows<Delivery>([...deliveriesKey(webhookId), status ?? 'all'], async (page, signal) => {
    const query = { ...page, ...(status && { status }) };
    return (await client.GET('/webhooks/{webhook_id}/deliveries', { params: { ...params, query }, signal })).data;
  });
  const selection = useSelection(`deliveries.${webhookId}`);
  useRefreshWhilePending(webhookId, rows);
  return (
    <>
      <div className="toolbar">
        <h3>Deliveries</h3>
        <label className="toolbar">
          <span className="visually-hidden">Which deliveries</span>
          <select
            className="input"
            value={status ?? ''}
            onChange={(event) => set({ status: event.target.value || undefined })}
          >
            <option value="">All</option>
            {Object.entries(STATES).map(([value, { label }]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <Redelivery webhookId={webhookId} selection={selection} />
      </div>
      <DataTable
        label="Deliveries"
        columns={COLUMNS}
        rows={rows}
        rowKey={({ id }) => id}
        rowLabel={({ event_id }) => event_id}
        selection={selection}
        empty={<EmptyState title="No deliveries">Test the webhook to see whether the receiver responds.</EmptyState>}
      />
    </>
  );
}

function useRefreshWhilePending(webhookId: number, rows: RowSource<Delivery>): void {
  const queryClient = useQueryClient();
  const newest = Array.from({ length: Math.min(rows.count ?? 0, WATCHED) }, (_, index) => rows.get(index));
  const pending = newest.filter((row) => row?.status === 'pending');
  const isNew = pending.some((row) => row !== undefined && row.attempts < 2);
  const refreshMs = pending.length === 0 ? null : isNew ? REFRESH_MS.first : REFRESH_MS.later;
  useEffect(() => {
    if (refreshMs === null) return;
    const timer = setInterval(() => {
      void queryClient.invalidateQueries({ queryKey: deliveriesKey(webhookId) });
      void queryClient.invalidateQueries(webhooksQuery);
    }, refreshMs);
    return () => clearInterval(timer);
  }, [queryClient, webhookId, refreshMs]);
}

function Redelivery({ webhookId, selection }: { webhookId: number; selection: Selection }) {
  const queryClient = useQueryClient();
  const delivery_ids = [...selection.ids];
  const params = { path: { webhook_id: webhookId } };
  const action = useMutation({
    mutationFn: () => client.POST('/webhooks/{webhook_id}:redeliver', { params, body: { delivery_ids } }),
    async onSuccess() {
      selection.clear();
      await queryClient.invalidateQueries({ queryKey: deliveriesKey(webhookId) });
    },
  });
  if (delivery_ids.length === 0) return <ErrorMessage error={action.error} />;
  return (
    <>
      <Button busy={action.isPending} onClick={() => action.mutate()}>
        Send {delivery_ids.length} again
      </Button>
      <CopyAs
        request={{ method: 'POST', path: `/webhooks/${webhookId}:redeliver`, body: { delivery_ids } }}
        command={['webhooks', 'redeliver', String(webhookId), ...delivery_ids.map(String)]}
      />
      <ErrorMessage error={action.error} />
    </>
  );
}

const COLUMNS: readonly Column<Delivery>[] = [
  {
    id: 'state',
    header: 'State',
    width: '128px',
    cell: ({ status }) => <StateMark tone={STATES[status].tone}>{STATES[status].label}</StateMark>,
  },
  {
    id: 'type',
    header: 'Event',
    width: 'minmax(160px, 1fr)',
    cell: ({ event_type }) => <span title={event_type}>{eventLabel(event_type)}</span>,
  },
  { id: 'event', header: 'Id', width: 'minmax(120px, 1fr)', cell: ({ event_id }) => <code>{event_id}</code> },
  { id: 'attempts', header: 'Attempts', width: '80px', align: 'end', cell: ({ attempts }) => attempts },
  {
    id: 'answer',
    header: 'Response',
    width: 'minmax(160px, 2fr)',
    cell: ({ response_status, error }) => <span title={error ?? ''}>{error ?? response_status ?? '–'}</span>,
  },
  { id: 'created', header: 'Created', width: '184px', cell: ({ creation_time }) => <Time value={creation_time} /> },
  {
    id: 'next',
    header: 'Next attempt',
    width: '128px',
    cell: ({ next_attempt_time }) => <Time value={next_attempt_time} format="relative" />,
  },
];
