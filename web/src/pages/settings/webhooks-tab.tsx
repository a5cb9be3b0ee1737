import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { usePageSearch } from '../../url/use-page-search.ts';
import { Button } from '../../ui/button.tsx';
import { SecretOnce } from '../../ui/copy-text.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { FormDialog, useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { EmptyState } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { allRows } from '../../ui/use-rows.ts';
import { type Webhook, webhooksQuery } from './queries.ts';
import { WebhookDetails } from './webhook-details.tsx';
import { WebhookForm } from './webhook-form.tsx';
import { EventTypes, WebhookState } from './webhook-state.tsx';

/** The addresses that events are sent to, or one of them (`?webhook=`). */
export function WebhooksTab() {
  const { get } = usePageSearch();
  const { open } = useOpenForm();
  const { data, error } = useQuery(webhooksQuery);
  const [secret, setSecret] = useState<string | null>(null);
  const shown = data?.find(({ id }) => String(id) === get('webhook'));
  return (
    <>
      {secret !== null && (
        <SecretOnce
          title="The receiver checks signatures with this secret."
          items={[{ label: 'Secret', value: secret }]}
          onDone={() => setSecret(null)}
        />
      )}
      {shown ? (
        <WebhookDetails webhook={shown} onSecret={setSecret} />
      ) : (
        <>
          <div className="toolbar">
            <Button kind="primary" onClick={() => open('new-webhook')}>
              Create webhook
            </Button>
          </div>
          <DataTable
            label="Webhooks"
            columns={COLUMNS}
            rows={allRows(data, error)}
            rowKey={({ id }) => id}
            empty={<NoWebhooks />}
          />
        </>
      )}
      <FormDialog form="new-webhook" title="Create a webhook">
        <WebhookForm onSecret={setSecret} />
      </FormDialog>
    </>
  );
}

const COLUMNS: readonly Column<Webhook>[] = [
  {
    id: 'url',
    header: 'Address',
    width: 'minmax(240px, 2fr)',
    cell: ({ id, url }) => (
      <Link to="." search={{ tab: 'webhooks', webhook: id }} title={url}>
        <bdi>{url}</bdi>
      </Link>
    ),
  },
  { id: 'state', header: 'State', width: '176px', cell: (webhook) => <WebhookState webhook={webhook} /> },
  { id: 'events', header: 'Events', width: 'minmax(128px, 1fr)', cell: ({ types }) => <EventTypes types={types} /> },
  {
    id: 'computers',
    header: 'Computers',
    width: 'minmax(128px, 1fr)',
    cell: ({ query }) => (query === null ? 'All' : <code title={query}>{query}</code>),
  },
  { id: 'created', header: 'Created', width: '184px', cell: ({ creation_time }) => <Time value={creation_time} /> },
];

function NoWebhooks() {
  return (
    <EmptyState title="No webhooks">
      A webhook sends events to a program of yours as they happen: activities that end, computers that join, alerts.
      Each is signed, so that the program can check where it comes from.
    </EmptyState>
  );
}
